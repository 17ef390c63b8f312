//! A Tollgate outcome in the words of HTTP: fields, problem bodies, a tower layer
