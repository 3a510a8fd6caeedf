//! Proves that the index of the built-in images, from which they are recognised and loaded, equals
//! what their ELFs say.

use images::ImageMap;
use symbols::{Segment, Symbols};

fn opened(image: &firmware::EmbeddedImage) -> Symbols {
    let (symbols, problems) = Symbols::load(image.elf, image.name).unwrap();
    assert!(problems.is_empty(), "{}: {problems:?}", image.name);
    symbols
}

#[test]
fn the_index_of_each_image_is_what_its_elf_says() {
    let (images, problems) = ImageMap::firmware();
    assert_eq!((images.all().count(), problems), (firmware::images().len(), Vec::new()));
    for (indexed, image) in images.all().zip(firmware::images()) {
        let symbols = opened(image);
        assert_eq!(indexed.segments(), symbols.segments(), "{}", image.name);
        let code = |segment: &Segment<'_>| segment.executable && !segment.bytes.is_empty();
        let text: Vec<_> = symbols.segments().into_iter().filter(code).collect();
        let text: Vec<_> = text.iter().map(|part| (part.address as u32, part.bytes)).collect();
        assert_eq!(indexed.text(), text, "{}", image.name);
        let place = symbols.symbol("meshscope_build_id").unwrap();
        let id = symbols.file_bytes(place.address, place.size).unwrap().to_vec();
        assert_eq!(indexed.build_id, Some((place.address, id)), "{}", image.name);
    }
}
