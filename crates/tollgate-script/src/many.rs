//! Many takes in one call.

use tollgate_store::StoreError;

use crate::{Call, Prefix, Replay, Reply, Script, Words, reply::garbage};

/// The call that makes one take, given as the call of [`take_call`](crate::take_call) without a replay, so that it may be sent
/// again and is counted once.
///
/// # Errors
/// [`StoreErrorKind::Misuse`](tollgate_store::StoreErrorKind::Misuse) if it is not the call of a take.
pub fn remembered_take_call(prefix: &Prefix, take: &Call, replay: Replay) -> Result<Call, StoreError> {
    check(take)?;
    let mut keys = Words::with_capacity(take.keys.len() + 1, take.keys.text_len() + KEY_BYTES);
    let mut args = Words::with_capacity(take.args.len() + 2, take.args.text_len() + ARG_BYTES);
    replay.add_args(&mut args);
    keys.append(&take.keys);
    args.append(&take.args);
    replay.add_key(prefix, &mut keys, &args);
    Ok(Call { script: Script::Take, keys, args })
}

/// The call that makes many takes, each given as the call of [`take_call`](crate::take_call) without a replay. It may be sent again
/// and all of it is counted once.
///
/// They are made in order, each as if it were alone. One call costs the server about half of what as many would. It
/// answers nobody else meanwhile, so let it be a hundred takes at most. Read the reply with [`take_many_answers`].
///
/// # Errors
/// [`StoreErrorKind::Misuse`](tollgate_store::StoreErrorKind::Misuse) if one of them is not the call of a take.
pub fn take_many_call<'c>(
    prefix: &Prefix,
    takes: impl Iterator<Item = &'c Call> + Clone,
    replay: Replay,
) -> Result<Call, StoreError> {
    let mut sizes = [(1, KEY_BYTES), (1, ARG_BYTES)];
    for take in takes.clone() {
        check(take)?;
        for (size, words) in sizes.iter_mut().zip([&take.keys, &take.args]) {
            *size = (size.0 + words.len() + 2, size.1 + words.text_len() + 4);
        }
    }
    let [mut keys, mut args] = sizes.map(|(words, bytes)| Words::with_capacity(words, bytes));
    replay.add_keep(&mut args);
    for take in takes {
        keys.append(&take.keys);
        args.push_number(take.keys.len());
        args.push_number(take.args.len());
        args.append(&take.args);
    }
    replay.add_key(prefix, &mut keys, &args);
    Ok(Call { script: Script::TakeMany, keys, args })
}

/// What `count` takes were answered, in order: for each the text to give to [`take_answer`](crate::take_answer), or the text of an
/// error, to be given to [`server_error`](crate::server_error).
///
/// # Errors
/// [`StoreErrorKind::Garbage`](tollgate_store::StoreErrorKind::Garbage) if this is not the answer to so many takes.
pub fn take_many_answers(
    reply: &Reply,
    count: usize,
) -> Result<impl ExactSizeIterator<Item = Result<&str, &str>>, StoreError> {
    let Reply::Text(text) = reply else { return Err(garbage("the answer to many takes is no text")) };
    let answers: Vec<_> = text.split('\n').map(|line| line.strip_prefix('!').map_or(Ok(line), Err)).collect();
    if answers.len() != count {
        return Err(garbage("there are not as many answers as takes"));
    }
    Ok(answers.into_iter())
}

fn check(take: &Call) -> Result<(), StoreError> {
    if take.script == Script::Take { Ok(()) } else { Err(StoreError::misuse("only takes can be made so")) }
}

/// What the key that the answer is remembered under, and what is said about it, seldom exceed.
const KEY_BYTES: usize = 64;
const ARG_BYTES: usize = 24;
