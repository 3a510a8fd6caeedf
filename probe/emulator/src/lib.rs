//! The emulated Wormhole mesh as the bus sees it.
