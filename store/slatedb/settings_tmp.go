package slatedb

import "encoding/json"

func settingsJSON(user map[string]any) (string, error) {
	d, err := defaultSettings()
	if err != nil {
		return "", err
	}
	m := map[string]any{}
	if err := json.Unmarshal([]byte(d), &m); err != nil {
		return "", err
	}
	for k, v := range user {
		m[k] = v
	}
	b, err := json.Marshal(m)
	return string(b), err
}
