//! A fully connected network in float64: forward, backward, and its parameters as one flat
//! vector.
//!
//! Layout of the parameters, layer by layer: the weight matrix `[outputs, inputs]` in C order,
//! then the bias `[outputs]`. Hidden layers have the hyperbolic tangent, the last one is linear.
//! A forward pass keeps the activations that the backward pass needs; both write into buffers
//! made once.

use crate::random::Rng;

/// A network and the activations of its last forward pass.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    /// Features, hidden units..., outputs.
    sizes: Vec<usize>,
    parameters: Vec<f64>,
    /// The outputs of every layer, the linear one's last.
    activations: Vec<Vec<f64>>,
    /// The loss by a layer's inputs and outputs, during the backward pass.
    by_output: Vec<f64>,
    by_input: Vec<f64>,
}

/// How many parameters a network of these sizes has; `None` beyond memory.
pub(crate) fn n_parameters(sizes: &[usize]) -> Option<usize> {
    sizes
        .iter()
        .zip(sizes.iter().skip(1))
        .try_fold(0_usize, |total, (inputs, outputs)| total.checked_add(inputs.checked_add(1)?.checked_mul(*outputs)?))
}

impl Network {
    /// A network whose weights are normal draws of deviation 1/sqrt(inputs), times `last` in the
    /// last layer; biases begin at 0.
    pub(crate) fn new(sizes: &[usize], last: f64, rng: &mut Rng) -> Self {
        let mut parameters = Vec::with_capacity(n_parameters(sizes).unwrap_or(0));
        let layers = sizes.len().saturating_sub(1);
        for (layer, (inputs, outputs)) in sizes.iter().zip(sizes.iter().skip(1)).enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "a layer's size")]
            let deviation = if layer + 1 == layers { last } else { 1.0 } / (*inputs as f64).sqrt();
            parameters.extend((0..inputs * outputs).map(|_| deviation * rng.standard_normal()));
            parameters.extend((0..*outputs).map(|_| 0.0));
        }
        let widest = sizes.iter().copied().max().unwrap_or(0);
        Self {
            sizes: sizes.to_vec(),
            parameters,
            activations: sizes.iter().skip(1).map(|outputs| vec![0.0; *outputs]).collect(),
            by_output: Vec::with_capacity(widest),
            by_input: Vec::with_capacity(widest),
        }
    }

    pub(crate) fn parameters(&self) -> &[f64] {
        &self.parameters
    }

    pub(crate) fn parameters_mut(&mut self) -> &mut [f64] {
        &mut self.parameters
    }

    /// The sizes of features, hidden layers and outputs.
    pub(crate) fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// The outputs at `features`.
    pub(crate) fn forward(&mut self, features: &[f64]) -> &[f64] {
        let mut rest = &*self.parameters;
        let mut before: &[f64] = features;
        let layers = self.activations.len();
        for (layer, outputs) in self.activations.iter_mut().enumerate() {
            let (weights, after) = rest.split_at_checked(before.len() * outputs.len()).unwrap_or_default();
            let (biases, after) = after.split_at_checked(outputs.len()).unwrap_or_default();
            rest = after;
            for ((output, row), bias) in outputs.iter_mut().zip(weights.chunks_exact(before.len().max(1))).zip(biases) {
                let sum = dot(row, before) + bias;
                *output = if layer + 1 < layers { sum.tanh() } else { sum };
            }
            before = outputs;
        }
        self.activations.last().map_or(&[], Vec::as_slice)
    }

    /// The activations of the last hidden layer at the features of the last forward pass; `None`
    /// without hidden layers.
    pub(crate) fn representation(&self) -> Option<&[f64]> {
        let last = self.activations.len().checked_sub(2)?;
        self.activations.get(last).map(Vec::as_slice)
    }

    /// Adds to `gradient` the loss by every parameter, given the loss by the outputs of the last
    /// forward pass, which was at `features`.
    pub(crate) fn backward(&mut self, features: &[f64], by_output: &[f64], gradient: &mut [f64]) {
        self.by_output.clear();
        self.by_output.extend_from_slice(by_output);
        let mut end = self.parameters.len();
        for layer in (0..self.activations.len()).rev() {
            let inputs = match layer.checked_sub(1) {
                Some(before) => self.activations.get(before).map_or(features, Vec::as_slice),
                None => features,
            };
            let n_outputs = self.by_output.len();
            let begin = end - (inputs.len() + 1) * n_outputs;
            let here = gradient.get_mut(begin..end).unwrap_or_default();
            let (weights, biases) = here.split_at_mut_checked(inputs.len() * n_outputs).unwrap_or_default();
            let parameters = self.parameters.get(begin..end).unwrap_or_default();
            let width = inputs.len().max(1);
            self.by_input.clear();
            self.by_input.resize(inputs.len(), 0.0);
            let rows = weights.chunks_exact_mut(width).zip(parameters.chunks_exact(width));
            for ((by_output, bias), (slots, row)) in self.by_output.iter().zip(biases).zip(rows) {
                *bias += by_output;
                add_scaled(slots, *by_output, inputs);
                if layer > 0 {
                    add_scaled(&mut self.by_input, *by_output, row);
                }
            }
            for (slot, activation) in self.by_input.iter_mut().zip(inputs) {
                *slot *= 1.0 - activation * activation;
            }
            std::mem::swap(&mut self.by_output, &mut self.by_input);
            end = begin;
        }
    }
}

/// The product of two rows, summed in eight lanes: the order is fixed, and it fits the machine.
fn dot(left: &[f64], right: &[f64]) -> f64 {
    let (lefts, left_rest) = left.as_chunks::<8>();
    let (rights, right_rest) = right.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for (left, right) in lefts.iter().zip(rights) {
        for (lane, (left, right)) in lanes.iter_mut().zip(left.iter().zip(right)) {
            *lane += left * right;
        }
    }
    let rest: f64 = left_rest.iter().zip(right_rest).map(|(left, right)| left * right).sum();
    lanes.iter().sum::<f64>() + rest
}

fn add_scaled(slots: &mut [f64], factor: f64, numbers: &[f64]) {
    for (slot, number) in slots.iter_mut().zip(numbers) {
        *slot += factor * number;
    }
}
