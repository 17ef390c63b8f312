//! Who is calling: headers and a peer address in, one visitor out
