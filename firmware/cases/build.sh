# Part of firmware/build: builds a [[case]] of the manifest. Every case is built in an empty folder
# of its own, so that split debug information names its files without a folder and the bytes do not
# depend on the path of the checkout.
readonly CASE_FLAGS="-march=rv32im -mabi=ilp32 -ffreestanding -fno-exceptions -fno-rtti -fno-pic
 -fno-ident
 -fno-threadsafe-statics -frandom-seed=meshscope -fno-record-gcc-switches"
readonly CASE_LDFLAGS="-nostdlib -Wl,-Ttext=0x9040 -Wl,-Tdata=0x103e0 -Wl,--build-id=none
 -Wl,-e,start -Wl,--no-warn-rwx-segments"

cases() { names case; }

# RISC-V's assembler leaves lengths of code to the linker, which never gets a .dwo: in the output of
# `g++ -gsplit-dwarf -c` every function is empty. So the split sections of one unit at a time are
# linked with the program, and then extracted from it, unless the manifest wants them `as_assembled`.
# Both functions run in build_case and use its variables.
compile_split() { # compile_split <source> <name>
    ${PREFIX}g++ $flags -S "$1" -o "$2.s"
    ${PREFIX}as -march=rv32im -mabi=ilp32 -mno-relax "$2.s" -o "$2.whole.o"
    ${PREFIX}objcopy --strip-dwo "$2.whole.o" "$2.o"
    ${PREFIX}objcopy --extract-dwo "$2.whole.o" "$2.dwo"
    # The linker omits sections that are marked as split.
    sed 's/\(\.section\t\.debug_[a-z_]*\.dwo\),"e"/\1,""/' "$2.s" |
        ${PREFIX}as -march=rv32im -mabi=ilp32 -mno-relax - -o "$2.whole.o"
}
link_split() { # link_split <name>
    local section
    ${PREFIX}g++ $flags $layout $link "${objects[@]/#$1.o/$1.whole.o}" -o whole.elf
    # With type units there are many sections of one name, which stay unchanged.
    for section in $(${PREFIX}objdump -h "$1.dwo" |
        awk '$2 ~ /^\.debug_(info|loclists|rnglists|loc)\.dwo$/ { print $2 }' |
        LC_ALL=C sort | uniq -u); do
        ${PREFIX}objcopy --dump-section "$section=bytes" whole.elf /dev/null
        ${PREFIX}objcopy --update-section "$section=bytes" "$1.dwo"
    done
}

build_case() ( # build_case <case> <folder>
    name=$1
    out=$(realpath "$2")
    root=$PWD/firmware
    flags="$CASE_FLAGS -I$root/device -ffile-prefix-map=$PWD=/meshscope
     -ffile-prefix-map=$work/$name=. -Wa,--debug-prefix-map=$PWD=/meshscope
     -Wa,--debug-prefix-map=$work/$name=. $(field "$name" flags)"
    link=$(field "$name" link)
    script=$(field "$name" script)
    plain=$(field "$name" plain)
    no_names=$(field "$name" no_names)
    objcopy=$(field "$name" objcopy)
    files=$(field "$name" files)
    debug_file=$(field "$name" debug_file)
    as_assembled=$(field "$name" as_assembled)
    objects=()
    inputs=$(field "$name" sources)
    mkdir "$work/$name"
    cd "$work/$name"
    for source in $inputs; do
        path=$root/cases/$source
        [[ -f $path ]] || path=$root/$source  # a source of the device
        object=${source##*/}
        object=$name.${object%.*}.o
        case "$flags $path" in
        # Debug information of assembler code holds lengths from before the linker's relaxation.
        *.S) ${PREFIX}g++ $flags -mno-relax -c "$path" -o "$object" ;;
        *-gsplit-dwarf*) compile_split "$path" "${object%.o}" ;;
        *) ${PREFIX}g++ $flags -c "$path" -o "$object" ;;
        esac
        objects+=("$object")
    done
    for source in $no_names; do
        object=$name.$(basename "$source" .cpp).o
        ${PREFIX}g++ $flags -g0 -c "$root/cases/$source" -o "$object"
        objects+=("$object")
    done
    for source in $plain; do
        object=$name.$(basename "$source" .cpp).o
        ${PREFIX}g++ $CASE_FLAGS -O2 -c "$root/cases/$source" -o "$object"
        objects+=("$object")
    done
    layout=$CASE_LDFLAGS
    if [[ -n ${script// } ]]; then
        layout="-nostdlib -static -L$root/device/link -Wl,--build-id=none -Wl,-z,max-page-size=16
         -T $script"
    fi
    ${PREFIX}g++ $flags $layout $link "${objects[@]}" -o "$name.elf"
    for whole in *.whole.o; do
        if [[ -f $whole && -z $as_assembled ]]; then link_split "${whole%.whole.o}"; fi
    done
    if [[ -n ${objcopy// } ]]; then ${PREFIX}objcopy $objcopy "$name.elf"; fi
    if [[ -n $debug_file ]]; then
        ${PREFIX}objcopy --only-keep-debug "$name.elf" "$name.debug"
        ${PREFIX}objcopy --strip-debug --add-gnu-debuglink="$name.debug" "$name.elf"
    fi
    chmod 644 $files
    cp $files "$out"
)

# case_hashes <case> <folder>: the hashes as written in the manifest.
case_hashes() {
    local file
    for file in $(field "$1" files); do sha256sum "$2/$file" | cut -d' ' -f1; done |
        sed 's/.*/"&"/' | paste -sd, | sed 's/,/, /g; s/.*/[&]/'
}

# check_case <case>: 0 if the committed files match their sources.
check_case() {
    local name=$1 file
    build_case "$name" "$work/images"
    local hashes
    hashes=$(case_hashes "$name" firmware/cases/images | tr -d '[]",')
    if [[ $hashes != "$(echo $(field "$name" sha256))" ]]; then
        echo "firmware/build: the case $name differs from its hash in the manifest" >&2
        return 1
    fi
    for file in $(field "$name" files); do
        if ! cmp -s "$work/images/$file" "firmware/cases/images/$file"; then
            echo "firmware/build: cases/images/$file differs from the build of its sources" >&2
            return 1
        fi
    done
}
