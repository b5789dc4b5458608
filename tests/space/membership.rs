//! Which elements lie in a space, by Gymnasium's rules, and how the others are named.

use skyfall::array::{Array, DType, Scalar};
use skyfall::space::{BoxSpace, DictSpace, Element, MultiBinarySpace, MultiDiscreteSpace, Space, TextSpace};
use skyfall::text::json;

fn boxed(shape: &[usize], dtype: DType, low: f64, high: f64) -> Space {
    Space::Box(BoxSpace::new(shape, dtype, &[low], &[high]).unwrap())
}

fn discrete(n: i64) -> Space {
    Space::discrete(n, 0).unwrap()
}

/// Whether the space has the element that `data`, in JSON, spells.
fn has(space: &Space, data: &str) -> bool {
    let element = space.element(&json::parse(data).unwrap(), "element").unwrap_or_else(|error| panic!("{error}"));
    space.contains(&element)
}

#[test]
fn numbers_within_bounds() {
    let space = boxed(&[2], DType::F32, -1.0, 1.0);
    assert!(has(&space, "[-1, 1.0]") && !has(&space, "[0, 1.1]") && !has(&space, "[0]") && !has(&space, "[NaN, 0]"));
    let array = |items: Vec<f64>| Element::Array(Array::from_vec(&[2], items).unwrap());
    assert!(!space.contains(&array(vec![0.0, 0.0])), "a float64 array would lose bits");
    let small = Element::Array(Array::from_vec(&[2], vec![0_i8, 1]).unwrap());
    assert!(space.contains(&small), "int8 fits into float32");
    assert!(has(&boxed(&[], DType::F64, f64::NEG_INFINITY, f64::INFINITY), "-Infinity"));
    let edge = BoxSpace::exact(&[1], DType::I64, &[Scalar::Int(i64::MIN)], &[Scalar::Int(i64::MAX - 1)]).unwrap();
    assert!(has(&Space::Box(edge.clone()), "[9223372036854775806]"));
    assert!(!has(&Space::Box(edge), "[9223372036854775807]"));
}

#[test]
fn integers_from_their_start() {
    let space = Space::discrete(3, -1).unwrap();
    assert!(has(&space, "-1") && has(&space, "1") && !has(&space, "2") && !has(&space, "-2"));
    assert!(!has(&space, &i64::MIN.to_string()) && !has(&space, &i64::MAX.to_string()));
    let multi = MultiDiscreteSpace::new(&[2], DType::I64, &[2, 3], &[0, -5]).unwrap();
    let multi = Space::MultiDiscrete(multi);
    assert!(has(&multi, "[1, -3]") && !has(&multi, "[2, -3]") && !has(&multi, "[0, -2]") && !has(&multi, "[0]"));
    let binary = Space::MultiBinary(MultiBinarySpace::shaped(&[2, 1]).unwrap());
    assert!(has(&binary, "[[0], [1]]") && !has(&binary, "[[0], [2]]") && !has(&binary, "[0, 1]"));
}

#[test]
fn texts_over_an_alphabet() {
    let space = Space::Text(TextSpace::new(1, 3, "aé").unwrap());
    assert!(has(&space, "\"éaé\"") && !has(&space, "\"\"") && !has(&space, "\"éaéa\"") && !has(&space, "\"ab\""));
    assert!(has(&Space::Text(TextSpace::new(0, 0, "").unwrap()), "\"\""));
}

#[test]
fn parts_of_composite_spaces() {
    let dict =
        Space::dict(DictSpace::from_iter([("a".to_owned(), discrete(2)), ("b".to_owned(), discrete(3))])).unwrap();
    assert!(has(&dict, r#"{"b": 2, "a": 1}"#) && !has(&dict, r#"{"a": 2, "b": 1}"#));
    let tuple = Space::tuple(vec![discrete(2), dict.clone()]).unwrap();
    assert!(has(&tuple, r#"[1, {"a": 0, "b": 0}]"#) && !has(&tuple, r#"[2, {"a": 0, "b": 0}]"#));
    let one_of = Space::one_of(vec![discrete(2), Space::Text(TextSpace::new(1, 2, "x").unwrap())]).unwrap();
    assert!(has(&one_of, "[0, 1]") && has(&one_of, r#"[1, "xx"]"#) && !has(&one_of, "[0, 2]"));
    let list = Space::sequence(dict.clone(), false).unwrap();
    assert!(has(&list, "[]") && has(&list, r#"[{"a": 0, "b": 0}]"#) && !has(&list, r#"[{"a": 0, "b": 9}]"#));
    let stacked = Space::sequence(dict, true).unwrap();
    assert!(has(&stacked, r#"{"a": [0, 1], "b": [2, 0]}"#) && has(&stacked, r#"{"a": [], "b": []}"#));
    assert!(!has(&stacked, r#"{"a": [0, 1], "b": [2]}"#) && !has(&stacked, r#"{"a": [0, 1], "b": [2, 3]}"#));
}

#[test]
fn graphs_and_their_links() {
    let graph = Space::graph(boxed(&[2], DType::F32, 0.0, 1.0), Some(discrete(3))).unwrap();
    let with = |links: &str| format!(r#"{{"nodes": [[0, 1], [1, 1]], "edges": [2], "edge_links": {links}}}"#);
    assert!(has(&graph, r#"{"nodes": [[0, 1]]}"#) && has(&graph, &with("[[0, 1]]")));
    assert!(
        !has(&graph, &with("[[0, 2]]")) && !has(&graph, &with("[[0, -1]]")) && !has(&graph, &with("[[0, 1], [1, 1]]"))
    );
    assert!(!has(&graph, r#"{"nodes": [[0, 2]]}"#));
    let edgeless = Space::graph(discrete(3), None).unwrap();
    assert!(has(&edgeless, r#"{"nodes": [0, 2]}"#) && !has(&edgeless, r#"{"nodes": [0, 3]}"#));
    let error = edgeless.element(&json::parse(&with("[[0, 1]]")).unwrap(), "action").unwrap_err();
    assert_eq!(error, "`action` has edges, but its space has none");
}

#[test]
fn what_is_wrong_is_named() {
    let inner = boxed(&[2], DType::F32, -1.0, 1.0);
    let dict = DictSpace::from_iter([("goal".to_owned(), inner), ("kind".to_owned(), discrete(2))]);
    let space = Space::tuple(vec![discrete(2), Space::dict(dict).unwrap()]).unwrap();
    for (data, message) in [
        (r#"[0, {"goal": [0, 7], "kind": 1}]"#, "`action[2].goal[2]` is 7.0, outside -1.0 to 1.0"),
        (r#"[0, {"goal": [NaN, 7], "kind": 1}]"#, "`action[2].goal[1]` is NaN"),
        (r#"[0, {"goal": [[0, 7]], "kind": 1}]"#, "`action[2].goal` has the shape [1, 2], the space has [2]"),
        (r#"[0, {"goal": [0, 0], "kind": 2}]"#, "`action[2].kind` is 2, outside Discrete(2)"),
        (r#"[3, {"goal": [0, 0], "kind": 2}]"#, "`action[1]` is 3, outside Discrete(2)"),
    ] {
        let element = space.element(&json::parse(data).unwrap(), "action").unwrap();
        assert_eq!(space.fault(&element, "action").as_deref(), Some(message));
    }
    for (data, message) in [
        ("3", "`action` must be a list, got an integer"),
        ("[0]", "`action` must have 2 parts, got 1"),
        (r#"[0.5, {"goal": [0, 0], "kind": 2}]"#, "`action[1]` must be an integer, got a number"),
        (r#"[0, {"goal": [0, 0]}]"#, "`action[2].kind` is missing"),
        (r#"[0, {"goal": [0, 0], "kind": 0, "kin": 1}]"#, "`action[2]` has a part `kin`, which its space does not"),
        (r#"[0, {"goal": "x", "kind": 0}]"#, "`action[2].goal`: "),
    ] {
        let error = space.element(&json::parse(data).unwrap(), "action").unwrap_err();
        assert!(error.starts_with(message), "{error}");
    }
}
