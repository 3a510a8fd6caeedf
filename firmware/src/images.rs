//! The table of embedded images, written by `firmware/build` from `firmware/manifest.toml`; do not edit.
use crate::{Image, Role};

pub(crate) static IMAGES: &[Image] = &[
    Image {
        name: "erisc_app",
        role: Role::Application,
        core: "erisc",
        elf: include_bytes!("../images/erisc_app.elf"),
        sha256: "d4cfdeb15ee6cc594308bb78a4426853516047ddf3deeb6407f1eb975ae439a0",
        build_id: 0x7595_3285_f604_eb4c,
    },
    Image {
        name: "ring_ping",
        role: Role::Kernel,
        core: "erisc",
        elf: include_bytes!("../images/ring_ping.elf"),
        sha256: "58ac136433c88ce99c7347787802535f6feb45dfcf9f1591ef09186b9895eeff",
        build_id: 0x7948_3baa_ef72_b7c9,
    },
    Image {
        name: "tensix_brisc",
        role: Role::BaseFirmware,
        core: "brisc",
        elf: include_bytes!("../images/tensix_brisc.elf"),
        sha256: "9251be5122f09e145f45332421aa00831afd90cac04edbb2f42b4fd3dbeaf68c",
        build_id: 0x1a70_4432_c487_4015,
    },
    Image {
        name: "tensix_ncrisc",
        role: Role::BaseFirmware,
        core: "ncrisc",
        elf: include_bytes!("../images/tensix_ncrisc.elf"),
        sha256: "89bf4feddc865cf861f31fae4fe95e707be9cff4ec16c761fe17476026a18cb3",
        build_id: 0x4126_ec7d_cf8a_0f17,
    },
    Image {
        name: "tensix_trisc0",
        role: Role::BaseFirmware,
        core: "trisc0",
        elf: include_bytes!("../images/tensix_trisc0.elf"),
        sha256: "9dcc8fd2591a4d74de03889a1950a8c53adbee2320e01b3605c5a0211b3c9c0e",
        build_id: 0xc9a2_fffe_c730_1efe,
    },
    Image {
        name: "tensix_trisc1",
        role: Role::BaseFirmware,
        core: "trisc1",
        elf: include_bytes!("../images/tensix_trisc1.elf"),
        sha256: "d6a925be34bea357d498f7894401553122903e76055cfd42e7d2f6db6c55390a",
        build_id: 0x7a29_ca8a_1bdb_541d,
    },
    Image {
        name: "tensix_trisc2",
        role: Role::BaseFirmware,
        core: "trisc2",
        elf: include_bytes!("../images/tensix_trisc2.elf"),
        sha256: "33b2c588880e2955000a599bf972a7c81dd6ee2fe6445cd7b0403b7f94faa1f5",
        build_id: 0x4b9a_ad13_c851_bf0b,
    },
    Image {
        name: "tensix_worker",
        role: Role::Kernel,
        core: "brisc",
        elf: include_bytes!("../images/tensix_worker.elf"),
        sha256: "c681f884460215e200120b91dcba5790457df098b98370e088a53e63817209a8",
        build_id: 0xf6d2_9584_ff81_dc57,
    },
];
