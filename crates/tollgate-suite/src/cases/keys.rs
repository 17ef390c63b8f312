//! Keys that must not meet, and keys that are one.

use tollgate_core::{Limit, Window};
use tollgate_store::{Charge, Key, KeyParts, Name, Part, Subject, Target};

use crate::{
    Failure,
    ground::{Ground, NAME},
};

/// Pairs of parts that read alike once somebody joins them carelessly.
fn alike() -> Vec<[String; 2]> {
    let plain = [
        ["", ""],
        [":", ""],
        ["", ":"],
        ["::", ""],
        ["", "::"],
        [":", ":"],
        ["a", "b"],
        ["a:b", ""],
        ["", "a:b"],
        ["a:", "b"],
        ["a", ":b"],
        ["a%3Ab", ""],
        ["a%3a", "b"],
        ["%", "b"],
        ["%25", "b"],
        ["%2", "5b"],
        ["%#", "b"],
        ["*", "b"],
        ["a*", "b"],
        ["?", "b"],
        ["[a]", "b"],
        ["{a}", "b"],
        ["{", "a}b"],
        ["a b", ""],
        ["a", " b"],
        ["a ", "b"],
        ["A", "b"],
        ["a\n", "b"],
        ["a", "\nb"],
        ["a\r\n", "b"],
        ["a\0", "b"],
        ["a", "\0b"],
        ["\u{7f}", "b"],
        ["ä", "b"],
        ["a\u{308}", "b"],
        ["🦀", "b"],
        ["🦀🦀", "b"],
        ["\u{feff}a", "b"],
        ["0", "b"],
        ["00", "b"],
        ["-0", "b"],
        ["18446744073709551615", "b"],
        ["18446744073709551616", "b"],
        ["null", "b"],
        ["\"", "b"],
        ["'", "b"],
        ["\\", "b"],
    ];
    let mut pairs: Vec<_> = plain.map(|pair| pair.map(String::from)).into();
    // Around the length from which a digest stands for the text, and far above it.
    for length in [255, 256, 257, 10_000] {
        let text = "x".repeat(length);
        pairs.push([text.clone(), "b".into()]);
        pairs.push([format!("{}y", &text[1..]), "b".into()]);
        pairs.push([format!("y{}", &text[1..]), "b".into()]);
        pairs.push(["b".into(), text]);
    }
    pairs
}

pub(crate) async fn no_two_part_lists_share_a_count(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::DAY);
    let limit = Limit::fixed(1, Window::DAY);
    let pairs = alike();
    let outer = on.slot("");
    let lists: Vec<_> = pairs
        .iter()
        .map(|[one, other]| [outer.key().parts(), &[Part::Text(one), Part::Text(other)]].concat())
        .collect();
    let charges: Vec<_> = lists.iter().map(|parts| Charge::new(Key::new(NAME, parts), limit)).collect();
    let shown = |at: usize| pairs[at].each_ref().map(|part| part.chars().take(30).collect::<String>());

    for (round, fits) in [("first", true), ("second", false)] {
        for (at, charge) in charges.iter().enumerate() {
            let decision = on.take_one(*charge, start).await?;
            on.same(
                &format!("whether the {round} unit of {:?} fits", shown(at)),
                decision.is_allowed(),
                fits,
            )?;
        }
    }
    for (at, charge) in charges.iter().enumerate() {
        on.forget(&[Target { key: charge.key, limit }], start).await?;
        let fits = on.take_one(*charge, start).await?.is_allowed();
        on.same(&format!("whether a unit of {:?} fits once it is forgotten", shown(at)), fits, true)?;
        let next = (at + 1) % charges.len();
        let fits = on.take_one(charges[next], start).await?.is_allowed();
        on.same(&format!("whether one of {:?} fits then", shown(next)), fits, false)?;
    }
    Ok(())
}

pub(crate) async fn a_number_is_its_decimal_text(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let limit = Limit::fixed(10, Window::MINUTE);
    for (number, text, left) in [(0, "0", 8), (7, "7", 8), (u64::MAX, "18446744073709551615", 8)] {
        let (number, text) = (on.slot_of(Part::Number(number)), on.slot_of(Part::Text(text)));
        on.spend(number.charge(limit), start).await?;
        let decision = on.take_one(text.charge(limit), start).await?;
        on.same("what a number and its text leave together", decision.left(), left)?;
        on.forget(&[text.target(limit)], start).await?;
        on.same(
            "what is left of the number once its text is forgotten",
            on.left(&number, limit, start).await?,
            10,
        )?;
    }
    let other = on.take_one(on.slot("07").charge(limit), start).await?;
    on.same("what is left of another text", other.left(), 9)
}

pub(crate) async fn a_user_and_a_visitor_of_one_name_are_two(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let limit = Limit::fixed(1, Window::MINUTE);
    for subject in [Subject::User("203.0.113.7"), Subject::Visitor("203.0.113.7")] {
        let outer = on.slot("");
        let parts = [outer.key().parts(), &subject.into_parts()].concat();
        let decision = on.take_one(Charge::new(Key::new(NAME, &parts), limit), start).await?;
        on.same("whether each has a unit of its own", decision.is_allowed(), true)?;
    }
    Ok(())
}

pub(crate) async fn names_are_counted_apart(on: &Ground<'_>) -> Result<(), Failure> {
    let start = on.start(Window::MINUTE);
    let limit = Limit::fixed(1, Window::MINUTE);
    let slot = on.slot("visitor");
    let names = ["suite-a", "suite-a-b", "suite-b", "suite-a1"].map(Name::new);
    let charges = names.map(|name| Charge::new(Key::new(name, slot.key().parts()), limit));
    for fits in [true, false] {
        for charge in charges {
            on.same(
                "whether a name has a unit of its own",
                on.take_one(charge, start).await?.is_allowed(),
                fits,
            )?;
        }
    }
    Ok(())
}
