// Package s3test gives tests a real S3 server, versitygw over a temporary
// directory, and a proxy in front of it that fails requests on demand.
//
// The server is built once per machine from the module in tools/ and kept in the
// user's cache folder; `go run ./internal/s3test/build` does it ahead of time.
package s3test
