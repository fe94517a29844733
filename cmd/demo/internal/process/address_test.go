package process

import "testing"

func TestFreeAddressesDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		address, err := FreeAddress()
		if err != nil {
			t.Fatal(err)
		}
		if seen[address] {
			t.Fatalf("%s was given twice", address)
		}
		seen[address] = true
	}
}
