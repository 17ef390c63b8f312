//! A row of the table: a figure and what it has to be.

use std::fmt;

use crate::{
    measure::{ROUNDS, median, median_ratio},
    net::Failure,
};

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What is compared with what.
    pub name: &'static str,
    /// What both sides are measured in.
    pub unit: &'static str,
    /// Our median.
    pub ours: f64,
    /// The other side's median, if there is another side.
    pub peer: Option<f64>,
    /// The median of the ratios round by round, or ours alone.
    pub figure: f64,
    /// What the figure has to be.
    pub goal: Goal,
}

/// What a figure has to be: the least that counts, and what is aimed at.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    /// More is better.
    AtLeast {
        /// Less than this is a fault.
        must: f64,
        /// What the best prototypes reached.
        aim: f64,
    },
    /// Less is better.
    AtMost {
        /// More than this is a fault.
        must: f64,
        /// What the best prototypes reached.
        aim: f64,
    },
}

impl Row {
    /// Measures both sides in turn.
    pub(crate) fn compare(
        (name, unit): (&'static str, &'static str),
        goal: Goal,
        mut ours: impl FnMut() -> Result<f64, Failure>,
        mut peer: impl FnMut() -> Result<f64, Failure>,
    ) -> Result<Self, Failure> {
        let (mut of_ours, mut of_peer) = ([0.0; ROUNDS], [0.0; ROUNDS]);
        for round in 0..ROUNDS {
            of_ours[round] = ours()?;
            of_peer[round] = peer()?;
        }
        let figure = median_ratio(&of_ours, &of_peer);
        Ok(Self { name, unit, ours: median(of_ours), peer: Some(median(of_peer)), figure, goal })
    }

    /// A row without another side.
    pub(crate) fn alone(
        (name, unit): (&'static str, &'static str),
        goal: Goal,
        figures: [f64; ROUNDS],
    ) -> Self {
        let ours = median(figures);
        Self { name, unit, ours, peer: None, figure: ours, goal }
    }

    /// Whether the figure is what it must be.
    #[must_use]
    pub fn holds(&self) -> bool {
        match self.goal {
            Goal::AtLeast { must, .. } => self.figure >= must,
            Goal::AtMost { must, .. } => self.figure <= must,
        }
    }

    /// Whether the figure is what is aimed at.
    #[must_use]
    pub fn is_on_aim(&self) -> bool {
        match self.goal {
            Goal::AtLeast { aim, .. } => self.figure >= aim,
            Goal::AtMost { aim, .. } => self.figure <= aim,
        }
    }

    /// What stands over the columns.
    #[must_use]
    pub fn heading() -> String {
        format!(
            "{:<66} {:>8} {:>9} {:>9}  {:<6} {:>10} {:>10}",
            "row", "figure", "must", "aim", "", "ours", "peer"
        )
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, must, aim) = match self.goal {
            Goal::AtLeast { must, aim } => ('≥', must, aim),
            Goal::AtMost { must, aim } => ('≤', must, aim),
        };
        let verdict = match (self.holds(), self.is_on_aim()) {
            (false, _) => "SHORT",
            (true, false) => "must",
            (true, true) => "aim",
        };
        let peer = self.peer.map_or_else(|| "–".to_owned(), short);
        write!(
            f,
            "{:<66} {:>8} {:>9} {:>9}  {verdict:<6} {:>10} {peer:>10} {}",
            self.name,
            short(self.figure),
            format!("{sign} {must}"),
            format!("{sign} {aim}"),
            short(self.ours),
            self.unit
        )
    }
}

/// Three digits that count.
fn short(figure: f64) -> String {
    match figure {
        ..10.0 => format!("{figure:.2}"),
        10.0..1_000.0 => format!("{figure:.0}"),
        _ => format!("{:.1}k", figure / 1_000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_on_which_side_of_its_goals_it_is() {
        let (least, most) = (Goal::AtLeast { must: 2.0, aim: 3.0 }, Goal::AtMost { must: 3.0, aim: 2.0 });
        for (goal, figure, said) in [
            (least, 1.99, "SHORT"),
            (least, 2.0, "must"),
            (least, 3.0, "aim"),
            (most, 3.01, "SHORT"),
            (most, 3.0, "must"),
            (most, 2.0, "aim"),
        ] {
            let row = Row::alone(("row", "ms"), goal, [figure; ROUNDS]);
            assert!(row.to_string().contains(&format!(" {said} ")), "{row}");
        }
    }
}
