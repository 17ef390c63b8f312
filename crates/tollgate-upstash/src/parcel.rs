//! The commands of one request, and who waits for the answer to each.

use std::sync::Arc;

use bytes::Bytes;
use tollgate_script::{Reply, ServerAnswer, server_error, take_many_answers};

use crate::{
    command::{Command, Form},
    failure::Failure,
    queue::{Job, Work},
    reply::{Answer, NO_ANSWER},
    service_error::may_be_of_one,
    together::{Group, MOST_TAKES, Taking},
};

/// How many lists are looked through for each take: there is one for each prefix, and callers of more are rather sent apart than
/// searched for.
const MOST_KINDS: usize = 8;

/// The commands of one request, in the order in which they are written.
pub(crate) struct Parcel(Vec<Item>);

enum Item {
    /// A command of one caller.
    One { command: Command, job: Job },
    /// A command that makes takes of several.
    Takes { group: Arc<Group>, form: Form, may_have_run: bool, jobs: Vec<(usize, Job)> },
}

impl Parcel {
    /// Puts together what can go together; takes of different callers only if they `may_share` a command.
    pub(crate) fn pack(batch: Vec<Job>, may_share: bool) -> Self {
        let mut items = Vec::new();
        // The takes that have not been sent yet, in lists of those that go together.
        let mut fresh: Vec<Vec<(Arc<Taking>, Job)>> = Vec::new();
        for job in batch {
            match &job.work {
                Work::Command(command) => items.push(Item::One { command: command.clone(), job }),
                Work::Take(taking) => match taking.place() {
                    Some(place) => add(&mut items, &place.group, (place.at, job)),
                    None => {
                        let taking = Arc::clone(taking);
                        let fits = |list: &&mut Vec<(Arc<Taking>, Job)>| {
                            list.len() < MOST_TAKES
                                && list[0].0.goes_with(&taking)
                                && list[0].1.form == job.form
                        };
                        let kinds = if may_share { MOST_KINDS } else { 0 };
                        match fresh.iter_mut().rev().take(kinds).find(fits) {
                            Some(list) => list.push((taking, job)),
                            None => fresh.push(vec![(taking, job)]),
                        }
                    }
                },
            }
        }
        for list in fresh {
            if let Some(group) = Group::of(list.iter().map(|(taking, _)| &**taking)) {
                for (at, (_, job)) in list.into_iter().enumerate() {
                    add(&mut items, &group, (at, job));
                }
            }
        }
        Self(items)
    }

    /// How many commands it holds.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Those who wait.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.0.iter().flat_map(|item| {
            let (one, takes) = match item {
                Item::One { job, .. } => (Some(job), None),
                Item::Takes { jobs, .. } => (None, Some(jobs.iter().map(|(_, job)| job))),
            };
            one.into_iter().chain(takes.into_iter().flatten())
        })
    }

    /// The body of a request: one command as it is, several as an array. Commands are carried out in order, so a script's text has
    /// to be there once.
    pub(crate) fn body(&self) -> Vec<u8> {
        let parts = self.0.iter().map(|item| match item {
            Item::One { command, job } => (command, job.form),
            Item::Takes { group, form, .. } => (&group.command, *form),
        });
        let length = parts.clone().map(|(command, _)| command.len() + 1).sum::<usize>() + 1;
        let mut body = Vec::with_capacity(length);
        let mut texts: Vec<&'static str> = Vec::new();
        for (command, form) in parts {
            if self.len() > 1 {
                body.push(if body.is_empty() { b'[' } else { b',' });
            }
            let known = texts.contains(&command.script.sha);
            let with_text = form == Form::Text || (form == Form::TextOnce && !known);
            if with_text {
                texts.push(command.script.sha);
            }
            command.write(&mut body, with_text);
        }
        if self.len() > 1 {
            body.push(b']');
        }
        body
    }

    /// Gives everybody the answer to what was theirs. Says whether takes have to go apart.
    pub(crate) fn hand_out(self, answers: Vec<Bytes>) -> bool {
        let mut apart = false;
        for (item, json) in self.0.into_iter().zip(answers) {
            let answer = Answer::read(&json);
            match item {
                Item::One { job, .. } => job.tell(answer.ok_or(Failure::Garbage(NO_ANSWER))),
                Item::Takes { group, may_have_run, jobs, .. } => {
                    apart |= hand_out_takes(&group, may_have_run, jobs, answer);
                }
            }
        }
        apart
    }

    /// Tells everybody that there is no answer.
    pub(crate) fn fail(self, failure: &Failure) {
        for item in self.0 {
            match item {
                Item::One { job, .. } => job.tell(Err(failure.clone())),
                Item::Takes { jobs, .. } => {
                    jobs.into_iter().for_each(|(_, job)| job.tell(Err(failure.clone())));
                }
            }
        }
    }
}

/// Adds a caller to a group's command, which is in the request once.
fn add(items: &mut Vec<Item>, group: &Arc<Group>, caller: (usize, Job)) {
    let of_group = items.iter_mut().rev().find_map(|item| match item {
        Item::Takes { group: other, jobs, .. } if Arc::ptr_eq(other, group) => Some(jobs),
        _ => None,
    });
    match of_group {
        Some(jobs) => jobs.push(caller),
        None => {
            let (form, may_have_run) = (caller.1.form, group.note_sending());
            items.push(Item::Takes { group: Arc::clone(group), form, may_have_run, jobs: vec![caller] });
        }
    }
}

/// Says whether they have to go apart.
fn hand_out_takes(
    group: &Group,
    may_have_run: bool,
    jobs: Vec<(usize, Job)>,
    answer: Option<Answer>,
) -> bool {
    let of_all = match answer {
        Some(Answer::Reply(reply)) if group.takes > 1 => {
            if let Ok(lines) = take_many_answers(&reply, group.takes) {
                let lines: Vec<_> = lines.collect();
                for (at, job) in jobs {
                    job.tell(Ok(match lines[at] {
                        Ok(text) => Answer::Reply(Reply::Text(text.to_owned())),
                        Err(text) => Answer::Error(text.to_owned()),
                    }));
                }
                return false;
            }
            Err(Failure::Garbage(NO_ANSWER))
        }
        Some(Answer::Error(text)) if matches!(server_error(&text), ServerAnswer::NoScript) => {
            group.note_not_run();
            Ok(Answer::Error(text))
        }
        // It may be one's alone, a key that is too long, and is not to be the others'. If an earlier try was counted, they would be
        // counted again.
        Some(Answer::Error(text)) if group.takes > 1 && !may_have_run && may_be_of_one(&text) => {
            Ok(Answer::Apart)
        }
        Some(answer) => Ok(answer),
        None => Err(Failure::Garbage(NO_ANSWER)),
    };
    let apart = matches!(of_all, Ok(Answer::Apart));
    for (_, job) in jobs {
        job.tell(of_all.clone());
    }
    apart
}
