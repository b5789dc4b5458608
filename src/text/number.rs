//! Numbers spelled as CPython spells them (`float.__repr__`, `int.__str__`).
//!
//! A float's digits are the shortest that read back exactly; they stand in fixed form for
//! `1e-4 <= |x| < 1e16` and in exponent form elsewhere, with a sign and at least two digits in
//! the exponent (`1e-05`, `1e+16`). Non-finite values are `NaN`, `Infinity`, `-Infinity`.

/// Appends `value` as Python's `json.dumps` prints it.
pub(crate) fn write_float(out: &mut Vec<u8>, value: f64) {
    if !value.is_finite() {
        let name: &[u8] = if value.is_nan() {
            b"NaN"
        } else if value > 0.0 {
            b"Infinity"
        } else {
            b"-Infinity"
        };
        out.extend_from_slice(name);
        return;
    }
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(value);
    if (1e-4..1e16).contains(&value.abs()) {
        // Both use the fixed form here.
        out.extend_from_slice(text.as_bytes());
        return;
    }
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    out.extend_from_slice(sign.as_bytes());
    if let Some((mantissa, exponent)) = digits.split_once('e') {
        write_exponent_form(out, mantissa, exponent);
    } else if let Some(tail) = digits.strip_prefix("0.0000") {
        // The digit source keeps 1e-5 <= |x| < 1e-4 in fixed form; Python does not.
        let (first, rest) = tail.split_at(1.min(tail.len()));
        out.extend_from_slice(first.as_bytes());
        if !rest.is_empty() {
            out.push(b'.');
            out.extend_from_slice(rest.as_bytes());
        }
        out.extend_from_slice(b"e-05");
    } else {
        out.extend_from_slice(digits.as_bytes());
    }
}

/// Appends `mantissa` and `exponent` with a signed exponent of at least two digits.
fn write_exponent_form(out: &mut Vec<u8>, mantissa: &str, exponent: &str) {
    out.extend_from_slice(mantissa.strip_suffix(".0").unwrap_or(mantissa).as_bytes());
    out.push(b'e');
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => (b'-', digits),
        None => (b'+', exponent.strip_prefix('+').unwrap_or(exponent)),
    };
    out.push(sign);
    if digits.len() < 2 {
        out.push(b'0');
    }
    out.extend_from_slice(digits.as_bytes());
}

/// Appends `value` as `msgspec.json` prints it: fixed form from 1e-5, exponents bare (`1e-6`,
/// `1e16`), and `null` when it is not finite.
pub(crate) fn write_float_msgspec(out: &mut Vec<u8>, value: f64) {
    if !value.is_finite() {
        out.extend_from_slice(b"null");
        return;
    }
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(value);
    match text.split_once("e+") {
        Some((mantissa, exponent)) => {
            out.extend_from_slice(mantissa.as_bytes());
            out.push(b'e');
            out.extend_from_slice(exponent.as_bytes());
        }
        None => out.extend_from_slice(text.as_bytes()),
    }
}

/// Appends the decimal text of `value`.
pub(crate) fn write_int(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// `value` as [`write_float`] spells it.
#[must_use]
pub(crate) fn float_text(value: f64) -> String {
    let mut out = Vec::with_capacity(24);
    write_float(&mut out, value);
    String::from_utf8_lossy(&out).into_owned()
}
