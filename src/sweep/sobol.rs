//! Sobol's sequence (1967) with the direction numbers of Joe and Kuo, "Constructing Sobol sequences
//! with better two-dimensional projections", SIAM J. Sci. Comput. 30 (2008): their table
//! new-joe-kuo-6.21201, as far as sweeps go.

/// How many axes there are numbers for.
pub const DIMENSIONS: usize = TABLE.len() + 1;

/// Binary digits of a coordinate.
const BITS: u32 = 32;

/// Of each dimension from the second on: the primitive polynomial, its coefficients as bits, and
/// the first direction numbers.
const TABLE: [(u32, &[u32]); 39] = [
    (3, &[1]),
    (7, &[1, 3]),
    (11, &[1, 3, 1]),
    (13, &[1, 1, 1]),
    (19, &[1, 1, 3, 3]),
    (25, &[1, 3, 5, 13]),
    (37, &[1, 1, 5, 5, 17]),
    (41, &[1, 1, 5, 5, 5]),
    (47, &[1, 1, 7, 11, 19]),
    (55, &[1, 1, 5, 1, 1]),
    (59, &[1, 1, 1, 3, 11]),
    (61, &[1, 3, 5, 5, 31]),
    (67, &[1, 3, 3, 9, 7, 49]),
    (91, &[1, 1, 1, 15, 21, 21]),
    (97, &[1, 3, 1, 13, 27, 49]),
    (103, &[1, 1, 1, 15, 7, 5]),
    (109, &[1, 3, 1, 15, 13, 25]),
    (115, &[1, 1, 5, 5, 19, 61]),
    (131, &[1, 3, 7, 11, 23, 15, 103]),
    (137, &[1, 3, 7, 13, 13, 15, 69]),
    (143, &[1, 1, 3, 13, 7, 35, 63]),
    (145, &[1, 3, 5, 9, 1, 25, 53]),
    (157, &[1, 3, 1, 13, 9, 35, 107]),
    (167, &[1, 3, 1, 5, 27, 61, 31]),
    (171, &[1, 1, 5, 11, 19, 41, 61]),
    (185, &[1, 3, 5, 3, 3, 13, 69]),
    (191, &[1, 1, 7, 13, 1, 19, 1]),
    (193, &[1, 3, 7, 5, 13, 19, 59]),
    (203, &[1, 1, 3, 9, 25, 29, 41]),
    (211, &[1, 3, 5, 13, 23, 1, 55]),
    (213, &[1, 3, 7, 3, 13, 59, 17]),
    (229, &[1, 3, 1, 3, 5, 53, 69]),
    (239, &[1, 1, 5, 5, 23, 33, 13]),
    (241, &[1, 1, 7, 7, 1, 61, 123]),
    (247, &[1, 1, 7, 9, 13, 61, 49]),
    (253, &[1, 3, 3, 5, 3, 55, 33]),
    (285, &[1, 3, 1, 15, 31, 13, 49, 245]),
    (299, &[1, 3, 5, 15, 31, 59, 63, 97]),
    (301, &[1, 3, 1, 11, 11, 11, 77, 249]),
];

/// The coordinate `dimension`, from 0, of the point `index`, in `[0, 1)`; `shift`ed, all digits of
/// all points by the same ones, in the middle of its cell.
#[must_use]
pub fn point(dimension: usize, index: u64, shift: Option<u32>) -> f64 {
    let gray = index ^ (index >> 1);
    let digits = directions(dimension);
    let chosen = digits.iter().enumerate().filter(|(place, _)| gray >> place & 1 == 1);
    let whole = chosen.fold(0, |sum, (_, direction)| sum ^ direction);
    const CELLS: f64 = 4_294_967_296.0; // 2^32
    match shift {
        Some(shift) => (f64::from(whole ^ shift) + 0.5) / CELLS,
        None => f64::from(whole) / CELLS,
    }
}

/// The direction numbers of a dimension, the one of the lowest digit first.
fn directions(dimension: usize) -> [u32; BITS as usize] {
    let mut numbers = [0_u32; BITS as usize];
    let Some((polynomial, first)) = dimension.checked_sub(1).and_then(|row| TABLE.get(row)) else {
        // The first dimension: van der Corput's sequence.
        for (number, place) in numbers.iter_mut().zip(0..) {
            *number = 1 << (BITS - 1 - place);
        }
        return numbers;
    };
    let degree = first.len();
    for place in 0..numbers.len() {
        let before = |back: usize| numbers.get(place.wrapping_sub(back)).copied().unwrap_or_default();
        let number = match (first.get(place), u32::try_from(place)) {
            (Some(first), Ok(place)) => first << (BITS - 1 - place),
            _ => {
                let oldest = before(degree);
                let inner = (1..degree).filter(|back| polynomial >> (degree - back) & 1 == 1);
                inner.fold(oldest ^ (oldest >> degree), |sum, back| sum ^ before(back))
            }
        };
        if let Some(slot) = numbers.get_mut(place) {
            *slot = number;
        }
    }
    numbers
}
