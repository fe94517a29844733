// Package unset tells OpenTelemetry's providers apart from what stands for them.
package unset

import "reflect"

// placeholder is the package of the global providers as long as none is set. What they
// make does nothing, at a price.
const placeholder = "go.opentelemetry.io/otel/internal/global"

// Is says whether a provider, of whatever kind, only stands for the global one.
// OpenTelemetry hands out another one once that is set, and what this one has made
// begins to work.
func Is(provider any) bool {
	t := reflect.TypeOf(provider)
	return t != nil && t.Kind() == reflect.Pointer && t.Elem().PkgPath() == placeholder
}
