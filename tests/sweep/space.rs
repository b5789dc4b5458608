//! Drawn points: the same for ever, and spread as their names say.

use proptest::prelude::*;
use skyfall::sweep::{Distribution, sobol};
use skyfall::value::Value;

use crate::command::Scratch;

/// What SciPy 1.17.1 has: `scipy.stats.qmc.Sobol(5, scramble=False).random(9)`.
const SCIPY: [[f64; 5]; 9] = [
    [0.0, 0.0, 0.0, 0.0, 0.0],
    [0.5, 0.5, 0.5, 0.5, 0.5],
    [0.75, 0.25, 0.25, 0.25, 0.75],
    [0.25, 0.75, 0.75, 0.75, 0.25],
    [0.375, 0.375, 0.625, 0.875, 0.375],
    [0.875, 0.875, 0.125, 0.375, 0.875],
    [0.625, 0.125, 0.875, 0.625, 0.625],
    [0.125, 0.625, 0.375, 0.125, 0.125],
    [0.1875, 0.3125, 0.9375, 0.4375, 0.5625],
];

/// The sixth of `scipy.stats.qmc.Sobol(40, scramble=False).random(6)`.
const SCIPY_IN_FORTY: [f64; 40] = [
    0.875, 0.875, 0.125, 0.375, 0.875, 0.625, 0.875, 0.375, 0.375, 0.125, 0.375, 0.875, 0.875, 0.125, 0.875, 0.375,
    0.875, 0.375, 0.375, 0.625, 0.625, 0.625, 0.875, 0.375, 0.375, 0.375, 0.875, 0.125, 0.625, 0.625, 0.875, 0.625,
    0.375, 0.375, 0.125, 0.125, 0.125, 0.375, 0.875, 0.375,
];

#[test]
fn sobol_s_points_are_scipy_s() {
    for (index, expected) in (0..).zip(SCIPY) {
        let point: Vec<f64> = (0..5).map(|dimension| sobol::point(dimension, index, None)).collect();
        assert_eq!(point, expected, "point {index}");
    }
    let point: Vec<f64> = (0..40).map(|dimension| sobol::point(dimension, 5, None)).collect();
    assert_eq!(point, SCIPY_IN_FORTY);
    assert_eq!(sobol::DIMENSIONS, 40);
}

#[test]
fn every_dimension_of_sobol_s_meets_every_cell_once() {
    for dimension in 0..sobol::DIMENSIONS {
        for shift in [None, Some(0x89ab_cdef)] {
            let mut cells = [0; 64];
            (0..64).for_each(|index| cells[(sobol::point(dimension, index, shift) * 64.0) as usize] += 1);
            assert_eq!(cells, [1; 64], "dimension {dimension}");
        }
    }
}

#[test]
fn normal_quantiles_are_scipy_s() {
    // scipy.special.ndtri
    let normal = Distribution::Normal { mean: 0.0, deviation: 1.0 };
    for (share, expected) in [
        (0.5, 0.0),
        (0.001, -3.090232306167813),
        (0.2, -0.8416212335729142),
        (0.975, 1.959963984540054),
        (1e-10, -6.361340902404056),
    ] {
        let value = normal.at(share).as_float().unwrap();
        assert!((value - expected).abs() <= 1e-14 * f64::abs(expected), "{share}: {value}, not {expected}");
    }
    assert!(normal.at(0.0).as_float().unwrap().is_finite());
}

proptest! {
    #[test]
    fn a_value_is_within_its_distribution(share in 0.0..1.0_f64, low in -1e3..1e3_f64, more in 1e-6..1e3_f64) {
        let high = low + more;
        let value = Distribution::Uniform { low, high }.at(share).as_float().unwrap();
        prop_assert!((low..high).contains(&value));
        let (least, most) = (more, more * 1e6);
        let value = Distribution::LogUniform { low: least, high: most }.at(share).as_float().unwrap();
        prop_assert!((least..most).contains(&value));
        let (from, to) = (low as i64, high as i64);
        let value = Distribution::Integer { low: from, high: to }.at(share).as_int().unwrap();
        prop_assert!((from..=to).contains(&value));
    }
}

#[test]
fn integers_and_choices_are_met_as_often() {
    let mut met = [0; 3];
    for index in 0..300 {
        let share = (f64::from(index) + 0.5) / 300.0;
        let value = Distribution::Integer { low: -1, high: 1 }.at(share).as_int().unwrap();
        met[usize::try_from(value + 1).unwrap()] += 1;
        let choice = Distribution::Choice(vec![Value::Int(-1), Value::Int(0), Value::Int(1)]).at(share);
        assert_eq!(choice, Value::Int(value));
    }
    assert_eq!(met, [100; 3]);
    let whole = Distribution::Integer { low: i64::MIN, high: i64::MAX };
    assert_eq!(whole.at(0.0), Value::Int(i64::MIN));
    assert!(whole.at(1.0_f64.next_down()).as_int().unwrap() > i64::MAX - 4096);
}

/// Runs a script that looks at spaces.
fn script(code: &str) -> String {
    Scratch::new()
        .script(&format!("local skyfall = require 'skyfall'\nlocal sweep = skyfall.sweep\n{code}"))
        .ok()
        .stdout
}

#[test]
fn more_draws_keep_the_first_ones_and_another_seed_has_others() {
    for space in ["random", "sobol"] {
        let code = format!(
            r#"
local axes = {{ a = sweep.uniform(0, 1), b = sweep.log_uniform(1e-3, 1), c = sweep.choice {{ "x", "y" }}, d = {{ 1, 2, 3 }} }}
local few, many = sweep.{space}(4, axes):points(), sweep.{space}(9, axes):points()
local other = sweep.{space}(4, axes, {{ seed = 1 }}):points()
assert(#few == 4 and #many == 9)
for i, point in ipairs(few) do
  for name, value in pairs(point) do assert(many[i][name] == value) end
end
assert(few[1].a ~= other[1].a and few[1].a ~= few[2].a)
print(("%.6f %.6f %s %d"):format(few[1].a, few[1].b, few[1].c, few[1].d))
"#
        );
        // In two processes the same.
        assert_eq!(script(&code), script(&code));
    }
    let plain = "for _, p in ipairs(sweep.sobol(3, { a = sweep.uniform(0, 8), b = sweep.integer(0, 3) }, { shift = false }):points()) do print(p.a, p.b) end";
    assert_eq!(script(plain), "0.0\t0\n4.0\t2\n6.0\t1\n");
}

#[test]
fn a_latin_hypercube_meets_every_part_of_every_axis_once() {
    let code = r#"
local met = { a = {}, b = {} }
local points = sweep.latin_hypercube(20, { a = sweep.uniform(0, 20), b = sweep.uniform(0, 20) }, { seed = 3 }):points()
local same = true
for _, point in ipairs(points) do
  for name, value in pairs(point) do
    assert(not met[name][math.floor(value)])
    met[name][math.floor(value)] = true
  end
  same = same and math.floor(point.a) == math.floor(point.b)
end
assert(#points == 20 and not same)
"#;
    script(code);
}

#[test]
fn drawn_axes_are_the_same_for_every_value_of_the_others() {
    let points = script(
        "for _, p in ipairs(sweep.grid({ seed = { 1, 2 }, sweep.random(2, { a = sweep.uniform(0, 1) }) }):points()) do print(p.seed, p.a) end",
    );
    let lines: Vec<(&str, &str)> = points.lines().map(|line| line.split_once('\t').unwrap()).collect();
    assert_eq!((lines[0].1, lines[1].1), (lines[2].1, lines[3].1));
    assert_ne!(lines[0].1, lines[1].1);
}

#[test]
fn an_interval_may_be_wider_than_the_greatest_float() {
    let code = "
local seen, below, above = {}, 0, 0
for _, p in ipairs(sweep.random(40, { a = sweep.uniform(-1e308, 1e308) }):points()) do
  assert(p.a >= -1e308 and p.a < 1e308 and not seen[p.a])
  seen[p.a] = true
  if p.a < 0 then below = below + 1 else above = above + 1 end
end
print(below > 5 and above > 5)
";
    assert_eq!(script(code), "true\n");
}
