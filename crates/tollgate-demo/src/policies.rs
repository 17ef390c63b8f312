//! What is limited, how much of it, and what happens when the store is gone: the whole table.

use tollgate_guard::{AnyPolicy, Limit, OnOutage, Policy, PolicyCharge, Window};
use tollgate_visitor::Visitor;

/// One visitor's questions, against bursts: `ask-burst:<visitor>`.
pub const ASK_BURST: Policy<1> = Policy::new("ask-burst", Limit::fixed(20, Window::MINUTE), OnOutage::Deny);
/// One visitor's questions about one project: `ask:<project>:<visitor>`.
pub const ASK: Policy<2> = Policy::new("ask", Limit::fixed(15, Window::DAY), OnOutage::Deny);
/// Everybody's questions about one project: `ask-site:<project>`.
pub const ASK_SITE: Policy<1> = Policy::new("ask-site", Limit::fixed(500, Window::DAY), OnOutage::Deny);
/// Everybody's questions: `ask-all`.
pub const ASK_ALL: Policy<0> = Policy::new("ask-all", Limit::fixed(5_000, Window::DAY), OnOutage::Deny);

/// What an organization looks up: `github:<org>`.
pub const GITHUB: Policy<1> = Policy::new("github", Limit::fixed(60, Window::HOUR), OnOutage::Allow);
/// How often an organization rebuilds the index: `docs-run:<org>`.
pub const DOCS_RUN: Policy<1> = Policy::new("docs-run", Limit::fixed(10, Window::DAY), OnOutage::Allow);
/// How often an organization re-indexes one page: `page-retry:<org>`.
pub const PAGE_RETRY: Policy<1> = Policy::new("page-retry", Limit::fixed(50, Window::DAY), OnOutage::Allow);
/// How often an organization publishes: `publish:<org>`.
pub const PUBLISH: Policy<1> = Policy::new("publish", Limit::fixed(50, Window::DAY), OnOutage::Allow);

/// One visitor's calls of one account path: `auth:<visitor>/<path>`. The limit is each [`AccountPath`]'s own.
pub const AUTH: Policy<1> = Policy::new("auth", Limit::fixed(100, TEN_SECONDS), OnOutage::Allow);

/// One visitor's messages: `playground:minute:<visitor>`.
pub const PLAYGROUND_MINUTE: Policy<1> =
    Policy::new("playground:minute", Limit::sliding(30, Window::MINUTE), OnOutage::Allow);

/// Everybody's messages, one budget whose quota the configuration sets: `playground:day`.
#[must_use]
pub const fn playground_day(limit: Limit) -> Policy<0> {
    Policy::new("playground:day", limit, OnOutage::Deny)
}

/// The budget of the playground unless the configuration sets another.
pub const PLAYGROUND_DAY_LIMIT: Limit = Limit::fixed(200, Window::DAY);

/// What all answers together may use, in tokens read and written, one budget whose quota the configuration sets: `tokens`. It warns
/// at 80 %.
#[must_use]
pub const fn tokens(limit: Limit) -> Policy<0> {
    Policy::new("tokens", limit, OnOutage::Deny).warn_at(80)
}

/// The budget of tokens unless the configuration sets another.
pub const TOKENS_LIMIT: Limit = Limit::fixed(1_000_000, Window::DAY);

/// What a question is reserved for: up to three passages are read, and up to 400 tokens written. It is settled to what it used.
pub const ASK_TOKENS: u64 = 1_500;

/// What a message is reserved for: one passage is read, and up to 400 tokens written. It is settled to what it used.
pub const CHAT_TOKENS: u64 = 800;

/// How often pushes update an organization's pages: `docs-update:<org>`. The worker charges it once it has found work.
pub const DOCS_UPDATE: Policy<1> = Policy::new("docs-update", Limit::fixed(15, Window::DAY), OnOutage::Allow);

/// What one source sends to the webhook that is not genuine: `webhook-forgery:<visitor>`.
pub const WEBHOOK_FORGERY: Policy<1> =
    Policy::new("webhook-forgery", Limit::sliding(20, Window::MINUTE), OnOutage::Allow);

const TEN_SECONDS: Window = Window::from_secs(10);

/// Every policy of the site, for its guard.
#[must_use]
pub fn all(playground_day: Policy<0>, tokens: Policy<0>) -> [AnyPolicy; 14] {
    [
        ASK_BURST.into(),
        ASK.into(),
        ASK_SITE.into(),
        ASK_ALL.into(),
        GITHUB.into(),
        DOCS_RUN.into(),
        PAGE_RETRY.into(),
        PUBLISH.into(),
        AUTH.into(),
        PLAYGROUND_MINUTE.into(),
        playground_day.into(),
        tokens.into(),
        DOCS_UPDATE.into(),
        WEBHOOK_FORGERY.into(),
    ]
}

/// What one question is charged to: all or none.
pub fn ask<'a>(project: &'a str, visitor: &'a Visitor, tokens: Policy<0>) -> [PolicyCharge<'a>; 5] {
    [
        ASK_BURST.charge(visitor),
        ASK.charge((project, visitor)),
        ASK_SITE.charge(project),
        ASK_ALL.charge(()),
        tokens.charge(()).estimate(ASK_TOKENS),
    ]
}

/// What one message is charged to: all or none.
pub fn chat(visitor: &Visitor, playground_day: Policy<0>, tokens: Policy<0>) -> [PolicyCharge<'_>; 3] {
    [PLAYGROUND_MINUTE.charge(visitor), playground_day.charge(()), tokens.charge(()).estimate(CHAT_TOKENS)]
}

/// A path of the account, each with a limit of its own under one policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountPath {
    /// Signing in.
    SignIn,
    /// Signing out.
    SignOut,
    /// Asking who one is.
    Session,
}

impl AccountPath {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::SignIn, Self::SignOut, Self::Session];

    /// How it is called in a key.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SignIn => "sign-in",
            Self::SignOut => "sign-out",
            Self::Session => "session",
        }
    }

    /// Its rule: signing in is where passwords are guessed.
    #[must_use]
    pub const fn limit(self) -> Limit {
        match self {
            Self::SignIn => Limit::fixed(5, TEN_SECONDS),
            Self::SignOut | Self::Session => Limit::fixed(100, TEN_SECONDS),
        }
    }

    /// The one key part of a visitor on this path.
    #[must_use]
    pub fn part(self, visitor: &Visitor) -> String {
        format!("{}/{}", visitor.key(), self.name())
    }
}
