//! What is sent to a server.

use crate::{Script, Words};

/// A script to call, with its keys and arguments: `EVALSHA <sha1> <number of keys> <keys> <arguments>`.
///
/// The keys are all that the script touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Which script.
    pub script: Script,
    /// Its keys, `KEYS` in the script.
    pub keys: Words,
    /// Its arguments, `ARGV` in the script.
    pub args: Words,
}
