//! Window math for rate limits: state in, decision out, time is an argument
