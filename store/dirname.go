package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// A key's folder is named after the key: one flat name, so that no key is inside
// another one's folder. Small letters, digits and "-", "_", "." stand for
// themselves, "/" is "+", capitals are "!" and the small letter, so that file
// systems which ignore case keep keys apart; every other byte is "%" and two
// small hexadecimal digits. A name that would be too long for a file system is
// cut and ends in "~" and the key's SHA-256; such a key is read from its versions.
const (
	maxFolderName = 200
	cutFolderName = 120
)

// folderName is the name of the key's folder.
func folderName(key string) string {
	name := escapeKey(key)
	if len(name) <= maxFolderName {
		return name
	}
	sum := sha256.Sum256([]byte(key))
	return name[:cutFolderName] + "~" + hex.EncodeToString(sum[:])
}

func escapeKey(key string) string {
	var b strings.Builder
	for i := range len(key) {
		switch c := key[i]; {
		case plainByte(c):
			b.WriteByte(c)
		case c == '/':
			b.WriteByte('+')
		case 'A' <= c && c <= 'Z':
			b.WriteByte('!')
			b.WriteByte(c - 'A' + 'a')
		default:
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	return b.String()
}

func plainByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.'
}

// cutName tells whether the name does not hold the whole key.
func cutName(name string) bool { return strings.Contains(name, "~") }

// keyOfName is the key that a name which is not cut stands for. It is not ok for
// names that no key has, such as those of files that are not ours.
func keyOfName(name string) (key string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '+':
			b.WriteByte('/')
		case c == '!' && i+1 < len(name):
			i++
			b.WriteByte(name[i] - 'a' + 'A')
		case c == '%' && i+2 < len(name):
			n, _ := strconv.ParseUint(name[i+1:i+3], 16, 8)
			i += 2
			b.WriteByte(byte(n))
		default:
			b.WriteByte(c)
		}
	}
	key = b.String()
	return key, CheckKey(key) == nil && folderName(key) == name
}
