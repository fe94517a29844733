package slap

import "fmt"

// Sources are where a configuration comes from. A later one overrides the fields
// that it sets; Settings, and ChildOptions that are maps, are merged by key at any
// depth.
//
// File, Env and Flags are read by keys: a key is the field's name in snake case, such
// as call_timeout, and its value is what the field holds, such as 5s. A store is a
// URL, as [store.Parse] reads it; the probe blocking, background or off; the strategy
// local, static or object-lease, with its own options below strategy_options; peers a list or a
// text, as [peers.Parse] reads it; tls names three files. Only the keys that
// are there override, and they are checked as they are given: an unknown key is an
// error, and so are an empty text and a 0 where in a Config they stand for the
// default; of retries 0 means none. Functions and objects have no keys.
type Sources struct {
	// Defaults are the application's.
	Defaults Config

	// File is the path of a YAML or JSON file.
	File string

	// Env is the prefix of environment variables: with APP, APP_CALL_TIMEOUT is
	// call_timeout and APP_CACHE__BYTES is bytes below cache. Values that are not
	// text are written as in YAML: [0, 1] is a list.
	Env string

	// Options are given at start.
	Options Config

	// Flags are options given at start by key, with dots between a key and one below
	// it, such as the flags of a command line that were set. Values are those of Env.
	Flags map[string]string
}

// Load reads the sources and merges them. An error is one sentence that names the
// key, and the file and line or the variable it is in. Fields that no key can set,
// and those that are missing, are left to [New].
func (s Sources) Load() (Config, error) {
	m := merger{}
	if err := m.load(s); err != nil {
		return Config{}, fmt.Errorf("slap: %w", err)
	}
	return m.config, nil
}
