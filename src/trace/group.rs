//! Rows grouped into runs across files (G1-G3).

use indexmap::IndexMap;

use crate::trace::about::Oddity;
use crate::trace::columns::{Identity, Input, Warning};
use crate::trace::file::FileRuns;
use crate::trace::gather::Gather;
use crate::trace::identity::mixed_types;

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

    /// The span of both.
    pub(super) fn join(self, other: Self) -> Self {
        Self { least: self.least.min(other.least), greatest: self.greatest.max(other.greatest) }
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

/// All files' runs, grouped.
pub(super) struct Grouped<R> {
    pub(super) inputs: Vec<Input>,
    pub(super) runs: Vec<R>,
    pub(super) warnings: Vec<Warning>,
}

/// A run whose members were joined.
pub(super) struct Whole<G> {
    pub(super) identity: Identity,
    pub(super) files: Vec<String>,
    pub(super) gathered: G,
}

struct Member<G> {
    file: String,
    gathered: G,
}

/// Groups the runs of all files; `finish` makes of each what is asked for, and tells what of it is odd.
pub(super) fn group<G: Gather, R>(
    files: Vec<FileRuns<G>>,
    finish: impl Fn(Whole<G>) -> (R, Vec<Oddity>),
) -> Grouped<R> {
    let mut names = IndexMap::new();
    let mut inputs = Vec::with_capacity(files.len());
    let mut buckets: IndexMap<String, (Identity, Vec<Member<G>>)> = IndexMap::new();
    for file in files {
        let name = file.input.path.clone();
        names.insert(file.number, name.clone());
        inputs.push(file.input);
        for (identity, gathered) in file.runs {
            // Anonymous rows of two files are two runs.
            let key = if identity.is_anonymous() { format!("file {}", file.number) } else { identity.key() };
            let bucket = buckets.entry(key).or_insert_with(|| (identity, Vec::new()));
            bucket.1.push(Member { file: name.clone(), gathered });
        }
    }
    let warnings = mixed_types(buckets.values().map(|(identity, _)| identity));
    let mut grouped = Grouped { inputs, runs: Vec::new(), warnings };
    let add = |grouped: &mut Grouped<R>, whole: Whole<G>| {
        let first = whole.files.first().cloned();
        let (run, oddities) = finish(whole);
        grouped.warnings.extend(oddities.into_iter().map(|oddity| oddity.warning(&names, first.as_deref())));
        grouped.runs.push(run);
    };
    for (identity, members) in buckets.into_values() {
        let spans: Vec<Span> = members.iter().map(|member| member.gathered.span()).collect();
        match membership(&spans) {
            Membership::Continuation(order) => {
                let mut members: Vec<Option<Member<G>>> = members.into_iter().map(Some).collect();
                let ordered = order.into_iter().filter_map(|member| members.get_mut(member).and_then(Option::take));
                if let Some(whole) = join(identity, ordered) {
                    add(&mut grouped, whole);
                }
            }
            Membership::Apart(one, other) => {
                let file_of = |member: usize| members.get(member).map_or("", |member| member.file.as_str());
                grouped.warnings.push(collision(&identity, file_of(one), file_of(other), members.len()));
                for member in members {
                    let identity = Identity { file: Some(member.file.clone()), ..identity.clone() };
                    add(&mut grouped, Whole { identity, files: vec![member.file], gathered: member.gathered });
                }
            }
        }
    }
    grouped
}

/// Joins the members of one run.
fn join<G: Gather>(mut identity: Identity, mut members: impl Iterator<Item = Member<G>>) -> Option<Whole<G>> {
    let Member { file, mut gathered } = members.next()?;
    let mut files = vec![file];
    for later in members {
        files.push(later.file);
        gathered.append(later.gathered);
    }
    if identity.is_anonymous() {
        identity.file = files.first().cloned();
    }
    Some(Whole { identity, files, gathered })
}

impl Oddity {
    /// As a warning; what is not about one line is about the run's first file.
    fn warning(self, names: &IndexMap<usize, String>, first: Option<&str>) -> Warning {
        let file = match self.file {
            Some((file, _)) => names.get(&file).cloned(),
            None => first.map(str::to_owned),
        };
        Warning {
            code: self.code,
            message: self.message,
            file,
            line: self.file.map(|(_, line)| line),
            step: Some(self.step),
            count: self.count,
        }
    }
}
