// Package messages holds what travels: identities, error kinds and the messages
// between a shard's actors and the application's.
package messages
