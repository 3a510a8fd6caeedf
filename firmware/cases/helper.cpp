// Built without -g: only the symbol table knows it.
extern "C" void unnamed_helper() {
    asm volatile("nop");
}
