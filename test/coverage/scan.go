package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
)

// proof is a test that is named after a rule.
type proof struct {
	name string // of the function, and of the subtest if that carries the id
	file string // from the root, with slashes
}

// own is this folder: its tests are about rules that they make up.
const own = "test/coverage"

// scan finds the tests below a folder by the ids that they are named after.
func scan(root string) (map[string][]proof, error) {
	proofs := map[string][]proof{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && skipped(path, d.Name()):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		scanFile(file, filepath.ToSlash(name), proofs)
		return nil
	})
	return proofs, err
}

func skipped(path, name string) bool {
	return strings.HasPrefix(name, ".") || name == "testdata" || strings.HasSuffix(filepath.ToSlash(path), own)
}

func scanFile(file *ast.File, name string, proofs map[string][]proof) {
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Recv != nil || !isTest(f.Name.Name) {
			continue
		}
		for _, id := range idsOfName(f.Name.Name) {
			proofs[id] = append(proofs[id], proof{f.Name.Name, name})
		}
		for _, text := range subtests(f) {
			for _, id := range idsOfText(text) {
				proofs[id] = append(proofs[id], proof{f.Name.Name + ": " + text, name})
			}
		}
	}
}

func isTest(function string) bool {
	return function != "TestMain" && (strings.HasPrefix(function, "Test") || strings.HasPrefix(function, "Fuzz"))
}

// subtests are the texts in a test that may name a part of it: the literals that it
// gives to Run, and those in its tables.
func subtests(f *ast.FuncDecl) (texts []string) {
	add := func(e ast.Expr) {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				texts = append(texts, text)
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Run" && len(n.Args) == 2 {
				add(n.Args[0])
			}
		case *ast.CompositeLit:
			for _, e := range n.Elts {
				add(e)
			}
		case *ast.KeyValueExpr: // a map from names, or a field with the name
			add(n.Key)
			add(n.Value)
		}
		return true
	})
	return texts
}
