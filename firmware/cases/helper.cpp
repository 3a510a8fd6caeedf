// Built without -g: only the symbol table contains it.
extern "C" void unnamed_helper() {
    asm volatile("nop");
}
