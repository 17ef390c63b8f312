//! What is asked of a limiter: how many keys, and whether they are over their limit.

/// One way of asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// How the table calls it.
    pub name: &'static str,
    /// How many different keys are asked, one after another.
    pub keys: usize,
    /// Whether each key is over its limit, so that every check refuses.
    pub rejecting: bool,
}

/// All scenarios of the table.
pub const SCENARIOS: [Scenario; 3] = [
    Scenario { name: "hot key", keys: 1, rejecting: false },
    Scenario { name: "10,000 keys", keys: 10_000, rejecting: false },
    Scenario { name: "10,000 keys, rejecting", keys: 10_000, rejecting: true },
];

impl Scenario {
    /// The keys, 42 bytes each: about as long as a visitor and a project.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        let mut texts: Vec<String> = (0..self.keys)
            .map(|at| format!("2001:db8:{at:04x}:{:04x}::/64-documentation-site", at * 7 % 65_536))
            .collect();
        for text in &mut texts {
            text.truncate(42);
        }
        // In an order that the memory of the process does not have.
        let count = texts.len();
        let mut order: Vec<usize> = (0..count).map(|at| at * 7_919 % count).collect();
        order.dedup();
        order.into_iter().map(|at| texts[at].clone()).collect()
    }
}
