//! Who a request is from: the visitor of the configured source or, on a developer's own machine, one that it acts as.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
};

use axum::{
    extract::{ConnectInfo, FromRef as _, FromRequestParts, connect_info::MockConnectInfo},
    http::{HeaderMap, request::Parts},
};
use axum_extra::extract::{
    SignedCookieJar,
    cookie::{Cookie, SameSite},
};
use serde::Serialize;
use tollgate_http::{Caller, Rejection};
use tollgate_visitor::{Visitor, VisitorSource};

use crate::App;

/// Who a request is from.
///
/// Acting as somebody else, and breaking the store, is only for a developer at this very machine: the server has the fault switch, the peer is on the
/// loopback interface, and no proxy has named a client. Whoever comes through a tunnel is who the tunnel says, and stays it.
#[derive(Clone, Debug)]
pub(crate) struct Visiting {
    own: Visitor,
    is_developer: bool,
    role: Option<(Role, Visitor)>,
}

/// A visitor that a developer may act as, of an address that documentation has for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Role {
    name: &'static str,
    address: IpAddr,
}

/// One of the roles, as a client sees it.
#[derive(Debug, Serialize)]
pub(crate) struct RoleEntry {
    name: &'static str,
    visitor: String,
}

const ROLES: [Role; 3] = [
    Role { name: "ada", address: IpAddr::V4(Ipv4Addr::new(203, 0, 113, 7)) },
    Role { name: "ben", address: IpAddr::V4(Ipv4Addr::new(198, 51, 100, 23)) },
    Role { name: "cleo", address: IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 1, 0, 0, 0, 7)) },
];

const COOKIE: &str = "tollgate-demo-acts-as";

impl Visiting {
    /// The visitor whose limits count.
    #[must_use]
    pub(crate) fn visitor(&self) -> &Visitor {
        self.role.as_ref().map_or(&self.own, |(_, visitor)| visitor)
    }

    /// The visitor that the configured source names, whoever it acts as.
    #[must_use]
    pub(crate) const fn own(&self) -> &Visitor {
        &self.own
    }

    /// Whether it may act as somebody else, and do what breaks the site for all.
    #[must_use]
    pub(crate) const fn is_developer(&self) -> bool {
        self.is_developer
    }

    /// Whom it acts as.
    #[must_use]
    pub(crate) fn role(&self) -> Option<&'static str> {
        self.role.as_ref().map(|(role, _)| role.name)
    }

    /// The same client in another role; `None` is its own.
    #[must_use]
    pub(crate) fn acting_as(self, role: Option<Role>) -> Self {
        let role = role.and_then(|role| Some((role, role.visitor()?)));
        Self { role, ..self }
    }

    /// Whom it may act as.
    #[must_use]
    pub(crate) fn roles(&self) -> Vec<RoleEntry> {
        let roles = ROLES.iter().filter(|_| self.is_developer);
        let entry = |role: &Role| {
            let visitor = role.visitor()?.key().to_owned();
            Some(RoleEntry { name: role.name, visitor })
        };
        roles.filter_map(entry).collect()
    }

    fn of(parts: &Parts, app: &App) -> Result<Self, Rejection> {
        let Caller(own) = Caller::of(parts, &Arc::<VisitorSource>::from_ref(app))?;
        let is_developer = app.has_fault_switch() && is_at_this_machine(parts, &own);
        let visiting = Self { own, is_developer, role: None };
        if !is_developer {
            return Ok(visiting);
        }
        let jar = SignedCookieJar::from_headers(&parts.headers, app.session_key().clone());
        let role = jar.get(COOKIE).and_then(|cookie| Role::named(cookie.value()));
        Ok(visiting.acting_as(role))
    }
}

impl Role {
    /// The role of this name.
    #[must_use]
    pub(crate) fn named(name: &str) -> Option<Self> {
        ROLES.into_iter().find(|role| role.name == name)
    }

    /// Remembers the role, or with `None` forgets it, in the client's cookies.
    pub(crate) fn remember(role: Option<Self>, jar: SignedCookieJar) -> SignedCookieJar {
        let cookie = |value: &'static str| {
            Cookie::build((COOKIE, value)).http_only(true).same_site(SameSite::Strict).path("/").build()
        };
        match role {
            Some(role) => jar.add(cookie(role.name)),
            None => jar.remove(cookie("")),
        }
    }

    fn visitor(self) -> Option<Visitor> {
        direct(self.address)
    }
}

/// What a server without a proxy in front makes of an address.
fn direct(address: IpAddr) -> Option<Visitor> {
    VisitorSource::peer().build().ok()?.identify(&HeaderMap::new(), Some(address)).ok()
}

/// Whether the visitor is the loopback peer itself, and nobody whom a proxy on this machine speaks for.
fn is_at_this_machine(parts: &Parts, own: &Visitor) -> bool {
    let extensions = &parts.extensions;
    let peer = match extensions.get::<ConnectInfo<SocketAddr>>() {
        Some(ConnectInfo(peer)) => Some(peer),
        None => extensions.get::<MockConnectInfo<SocketAddr>>().map(|MockConnectInfo(peer)| peer),
    };
    let Some(peer) = peer.map(SocketAddr::ip) else { return false };
    peer.to_canonical().is_loopback() && (own.is_local() || direct(peer).as_ref() == Some(own))
}

impl FromRequestParts<App> for Visiting {
    type Rejection = Rejection;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Rejection> {
        Self::of(parts, app)
    }
}
