//! Rows grouped into runs across files (G1-G3).

use indexmap::IndexMap;

use crate::trace::columns::{Identity, RunColumns, TraceColumns, Warning};
use crate::trace::file::FileRuns;
use crate::trace::identity::mixed_types;
use crate::trace::part::Part;

/// What grouping needs to know of one file's rows of one run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// The least and the greatest step.
    pub(super) least: i64,
    pub(super) greatest: i64,
}

impl Span {
    pub(super) fn of(steps: impl Iterator<Item = i64>) -> Self {
        let start = Self { least: i64::MAX, greatest: i64::MIN };
        steps.fold(start, |span, step| Self { least: span.least.min(step), greatest: span.greatest.max(step) })
    }
}

/// How the members of one identity, which are in several files, belong together.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Membership {
    /// One run, in this order of its members.
    Continuation(Vec<usize>),
    /// Runs of their own; two whose steps overlap.
    Apart(usize, usize),
}

/// Decides for members with these spans.
pub(super) fn membership(spans: &[Span]) -> Membership {
    let mut order: Vec<(usize, &Span)> = spans.iter().enumerate().collect();
    order.sort_by_key(|(_, span)| span.least);
    let overlap = order.windows(2).find_map(|pair| match pair {
        [(one, before), (other, after)] if after.least <= before.greatest => Some((*one.min(other), *one.max(other))),
        _ => None,
    });
    match overlap {
        Some((one, other)) => Membership::Apart(one, other),
        None => Membership::Continuation(order.into_iter().map(|(member, _)| member).collect()),
    }
}

/// The warning about members of one identity that stay apart.
pub(super) fn collision(identity: &Identity, one: &str, other: &str, members: usize) -> Warning {
    Warning {
        code: "identity_collision",
        message: format!(
            "{} is in {one} and in {other} with overlapping steps; kept as separate runs \
             (a served trace repeats its training run's identity: pass it with --frozen)",
            identity.label()
        ),
        file: Some(other.to_owned()),
        line: None,
        step: None,
        count: members as u64 - 1,
    }
}

struct Member {
    file: String,
    part: Part,
}

/// Groups the runs of all files.
pub(super) fn group(files: Vec<FileRuns>) -> TraceColumns {
    let mut names = IndexMap::new();
    let mut columns = TraceColumns::default();
    let mut buckets: IndexMap<String, (Identity, Vec<Member>)> = IndexMap::new();
    for file in files {
        let name = file.input.path.clone();
        names.insert(file.number, name.clone());
        columns.inputs.push(file.input);
        for (identity, part) in file.runs {
            // Anonymous rows of two files are two runs.
            let key = if identity.is_anonymous() { format!("file {}", file.number) } else { identity.key() };
            let bucket = buckets.entry(key).or_insert_with(|| (identity, Vec::new()));
            bucket.1.push(Member { file: name.clone(), part });
        }
    }
    columns.warnings = mixed_types(buckets.values().map(|(identity, _)| identity));
    for (identity, members) in buckets.into_values() {
        let spans: Vec<Span> = members.iter().map(|member| Span::of(member.part.step.iter().copied())).collect();
        match membership(&spans) {
            Membership::Continuation(order) => {
                let mut members: Vec<Option<Member>> = members.into_iter().map(Some).collect();
                let ordered =
                    order.into_iter().filter_map(|member| members.get_mut(member).and_then(Option::take)).collect();
                finish(identity, ordered, &names, &mut columns);
            }
            Membership::Apart(one, other) => {
                let file_of = |member: usize| members.get(member).map_or("", |member| member.file.as_str());
                columns.warnings.push(collision(&identity, file_of(one), file_of(other), members.len()));
                for member in members {
                    let own = Identity { file: Some(member.file.clone()), ..identity.clone() };
                    finish(own, vec![member], &names, &mut columns);
                }
            }
        }
    }
    columns
}

/// Joins the members of one run.
fn finish(mut identity: Identity, members: Vec<Member>, names: &IndexMap<usize, String>, columns: &mut TraceColumns) {
    let files: Vec<String> = members.iter().map(|member| member.file.clone()).collect();
    if identity.is_anonymous() {
        identity.file = files.first().cloned();
    }
    let mut whole = Part::default();
    for member in members {
        whole.append(member.part);
    }
    let (run, oddities) = whole.finish();
    columns.warnings.extend(oddities.into_iter().map(|oddity| Warning {
        code: oddity.code,
        message: oddity.message,
        file: oddity.file.map_or_else(|| files.first().cloned(), |(file, _)| names.get(&file).cloned()),
        line: oddity.file.map(|(_, line)| line),
        step: Some(oddity.step),
        count: oddity.count,
    }));
    columns.runs.push(RunColumns { identity, files, ..run });
}
