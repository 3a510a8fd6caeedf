//! Memory of the interpreted machine: what fills put there and checks read.

use super::interpreter::Machine;
use crate::expected;
use crate::program::{Program, WorkerCommand, WorkerPlan, flags};
use crate::tensor;
use machine::place::Place;

impl Machine {
    /// Fills; these workers have no channels.
    pub(super) fn fill(&mut self, program: &Program) {
        for worker in &program.fills {
            for command in &worker.commands {
                assert_eq!(command.flags, flags::FILL);
                let in_page = u64::from(page_bytes(worker)) / program.data_type.bytes();
                for page in 0..worker.pages {
                    let first = u64::from(command.first_element) + u64::from(page) * in_page;
                    let in_word = 4 / program.data_type.bytes();
                    let words = (0..bytes_of(worker, page) / 4).map(|word| {
                        let element = first + u64::from(word) * in_word;
                        let real = u64::from(worker.elements).saturating_sub(element).min(in_word);
                        let index = (element / in_word) as u32;
                        let full =
                            expected::pattern(program.data_type, program.seed, command.rank, index);
                        if real == 0 {
                            0
                        } else if real < in_word {
                            full & 0xFFFF
                        } else {
                            full
                        }
                    });
                    let bytes = words.flat_map(u32::to_le_bytes).collect();
                    let at = locate(worker, command.destination, command.destination_page + page);
                    self.memory.insert(at, bytes);
                }
            }
        }
    }

    /// The digest that a checking worker's command would bring.
    pub(super) fn digest(&self, worker: &WorkerPlan, command: &WorkerCommand) -> u32 {
        let words = self.words(worker, command.source, command.source_page);
        expected::digest(words.into_iter())
    }

    /// The words of a worker's stretch of a tensor.
    pub(super) fn words(&self, worker: &WorkerPlan, tensor: u8, first_page: u32) -> Vec<u32> {
        let page = |page| {
            let at = locate(worker, tensor, first_page + page);
            let page = self.memory.get(&at).unwrap_or_else(|| panic!("{at:?} was never written"));
            page.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        };
        (0..worker.pages).flat_map(page).collect()
    }
}

pub(super) fn page_bytes(worker: &WorkerPlan) -> u32 {
    worker.tensors[0].page_bytes
}

pub(super) fn bytes_of(worker: &WorkerPlan, page: u32) -> u32 {
    if page + 1 == worker.pages { worker.last_page_bytes } else { page_bytes(worker) }
}

pub(super) fn locate(worker: &WorkerPlan, tensor: u8, page: u32) -> (Place, u64) {
    let (bank, offset) = tensor::locate(&worker.tensors[usize::from(tensor)], page);
    let bank = &worker.banks[bank as usize];
    (bank.place, u64::from(bank.address) + offset)
}
