package library

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Version is the engine's version that this module binds.
const Version = "0.17.0"

// build is what the engine publishes for one platform.
type build struct {
	tag    string // the platform as pip names it
	sha256 string // of the wheel
	files  []file // in the order of their installation: the library is last
}

// file is one file that a build leaves in its folder.
type file struct {
	name   string // in the folder
	member string // in the wheel
	sha256 string // of the file in the folder

	// edit changes the bytes taken from the wheel. It keeps their number.
	edit func([]byte) []byte
}

const (
	folder = "slatedb/uniffi/_slatedb_uniffi/"
	so     = "libslatedb_uniffi.so"
	dylib  = "libslatedb_uniffi.dylib"
)

var builds = map[Platform]build{
	{"linux", "amd64", glibc}: {
		tag:    "manylinux2014_x86_64",
		sha256: "79252f859331010ef9f6532b1a244db8dc6e29367236d022e78e6fcd12d3560a",
		files: []file{{
			name: so, member: folder + so,
			sha256: "33e22f38d5f157e4fc386d1d8fbfd72cd9605128ad818d465c1b0c0c176a01b8",
		}},
	},
	{"linux", "arm64", glibc}: {
		tag:    "manylinux2014_aarch64",
		sha256: "63366b5a895e4b3cd47295fd4ce7eb2a2125804b34b548c18b3a74eded34462c",
		files: []file{{
			name: so, member: folder + so,
			sha256: "ebb05c93e77814227acc618a30c63817c689656462a3423c646aeb64d24758af",
		}},
	},
	{"linux", "amd64", musl}: {
		tag:    "musllinux_1_2_x86_64",
		sha256: "92a1ef44ae0f9670d41395be00de6b82e2450bd555fcc6ea8ac6c279deea2539",
		files: []file{{
			name: "libgcc_s-f685abf1.so.1", member: "slatedb.libs/libgcc_s-f685abf1.so.1",
			sha256: "91a43de5877248a317d14faa35490ef474a1b33a83e235b52fb1eabf7108108e",
		}, {
			name: so, member: folder + so, edit: besideItself,
			sha256: "2658a5e5ccf3c7205f9d2cb636e1053fe40b437724ec91b145191d0cce218945",
		}},
	},
	{"linux", "arm64", musl}: {
		tag:    "musllinux_1_2_aarch64",
		sha256: "5b088e23c4371f650d42df9944290b73ec71754d6defc7f7964c95569ad131a9",
		files: []file{{
			name: "libgcc_s-0bf60adc.so.1", member: "slatedb.libs/libgcc_s-0bf60adc.so.1",
			sha256: "f33db50df5fb0591ee20b789e7f26cb4593e3a36a3dcd45c668d5af03a3f5a87",
		}, {
			name: so, member: folder + so, edit: besideItself,
			sha256: "85aecff58605e65c37e2cd278c13aaea7063f7859e790e7947238e9f5f29f5f1",
		}},
	},
	{"darwin", "arm64", ""}: {
		tag:    "macosx_11_0_arm64",
		sha256: "d3159602b659447ebf4406258e29395c99832b590fcf75c32a6426d20de8d81f",
		files: []file{{
			name: dylib, member: folder + dylib,
			sha256: "c3c584384acf3b2d5a693255fd6085737ba32ee5de25c46819e6b1680b62dccd",
		}},
	},
}

// besideItself makes the musl library look for its libgcc in its own folder. The
// path that the wheel gives it leads to no folder of the wheel, so that the
// library as published loads nowhere.
func besideItself(elf []byte) []byte {
	wheel, ours := "$ORIGIN/../../slatedb.libs\x00", "$ORIGIN"
	padded := ours + strings.Repeat("\x00", len(wheel)-len(ours))
	return bytes.Replace(elf, []byte(wheel), []byte(padded), 1)
}

// pinned is the build for a platform.
func pinned(p Platform) (build, error) {
	if b, ok := builds[p]; ok {
		return b, nil
	}
	return build{}, fmt.Errorf("SlateDB %s is not published for %s, only for %s", Version, p, supported())
}

func supported() string {
	var names []string
	for p := range maps.Keys(builds) {
		names = append(names, p.String())
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
