//! The signatures of one request.

/// The most that are read: each costs an HMAC or a comparison for each secret, and whoever sends them need not be genuine.
const MOST: usize = 16;

/// The signatures of a list, at least one and at most so many, as each is read.
///
/// What cannot be read is passed over, so that it does not spoil a genuine one beside it; it counts all the same.
pub(crate) fn of_list(read: impl Iterator<Item = Option<Vec<u8>>>) -> Option<Vec<Vec<u8>>> {
    let (mut signatures, mut items) = (Vec::new(), 0);
    for signature in read {
        if items == MOST {
            return None;
        }
        items += 1;
        signatures.extend(signature);
    }
    (!signatures.is_empty()).then_some(signatures)
}
