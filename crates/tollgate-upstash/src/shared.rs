//! One client for each database and token of the process.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Weak},
};

use parking_lot::Mutex;

use crate::{Credentials, HttpTransport, UpstashConfigError, client::Client};

/// Those that some store still holds. Stores come and go; connections are kept as long as one is there.
static CLIENTS: LazyLock<Mutex<HashMap<Credentials, Weak<Client>>>> = LazyLock::new(Mutex::default);

/// The process's client for these credentials.
pub(crate) fn client(credentials: &Credentials) -> Result<Arc<Client>, UpstashConfigError> {
    let mut clients = CLIENTS.lock();
    if let Some(client) = clients.get(credentials).and_then(Weak::upgrade) {
        return Ok(client);
    }
    clients.retain(|_, client| client.strong_count() > 0);
    let transport = HttpTransport::new(credentials).map_err(UpstashConfigError::Transport)?;
    let client = Arc::new(Client::new(credentials.clone(), Arc::new(transport)));
    clients.insert(credentials.clone(), Arc::downgrade(&client));
    Ok(client)
}
