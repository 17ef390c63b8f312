//! Faults of what a key is kept under.

use tollgate_store::{Key, Part};

use super::Fault;

pub(super) fn name(fault: Option<Fault>, key: &Key<'_>) -> Vec<u8> {
    let Some(fault) = fault else { return key.to_bytes().into() };
    let texts = key.parts().iter().map(|part| match part {
        Part::Text(text) => String::from(*text),
        Part::Number(number) if fault == Fault::NumbersAreOtherKeys => format!("number {number}"),
        Part::Number(number) => number.to_string(),
    });
    let texts: Vec<_> = texts.map(|text| changed(fault, text)).collect();
    let parts: Vec<_> = texts.iter().map(|text| Part::Text(text)).collect();
    match fault {
        Fault::PartsAreJoinedPlainly => [key.name().as_str(), &texts.join(":")].join(":").into_bytes(),
        Fault::SubjectsAreDropped => {
            let kept: Vec<_> = parts
                .into_iter()
                .filter(|part| ![Part::Text("user"), Part::Text("visitor")].contains(part))
                .collect();
            Key::new(key.name(), &kept).to_bytes().into()
        }
        Fault::NamesAreDropped => texts.join("\n\n").into_bytes(),
        Fault::NamesStopAtAHyphen => {
            let name = key.name().as_str().split_once('-').map_or(key.name().as_str(), |(name, _)| name);
            [name, &texts.join("\n\n")].concat().into_bytes()
        }
        _ => Key::new(key.name(), &parts).to_bytes().into(),
    }
}

fn changed(fault: Fault, text: String) -> String {
    match fault {
        Fault::LongPartsAreCut => text.chars().take(255).collect(),
        Fault::LongPartsAreKnownByTheirLength if text.len() > 256 => format!("long {}", text.len()),
        Fault::CaseIsFolded => text.to_lowercase(),
        Fault::SpaceIsTrimmed => text.trim().to_owned(),
        Fault::NulEndsAPart => text.split('\0').next().unwrap_or_default().to_owned(),
        Fault::OnlyAsciiIsKept => text.replace(|c: char| !c.is_ascii(), "?"),
        _ => text,
    }
}
