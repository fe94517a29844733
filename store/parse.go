package store

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const useEnvironment = "put them into the AWS environment variables or a profile instead"

var errURLForm = errors.New("the store URL must look like memory:///, file:///directory or " +
	"s3://bucket/prefix?endpoint=http://host:port&region=us-east-1")

// Parse reads the URL of a store.
//
//	memory:///                this process's memory, empty and unlike any other
//	file:///directory         a local directory, an absolute path
//	s3://bucket/prefix?…      a bucket, with endpoint, region, profile,
//	                          virtual_hosted (true or false) and request_timeout
//	                          (such as 5s), each as in [S3Options]
//
// Credentials are found as aws-sdk-go-v2 finds them; a URL that contains some is
// refused. No error repeats a part of the URL that could be a secret.
func Parse(rawURL string) (Store, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return Store{}, errURLForm
	}
	if u.User != nil {
		return Store{}, fmt.Errorf("the store URL contains credentials: %s", useEnvironment)
	}
	if u.Fragment != "" {
		return Store{}, errors.New(`the store URL contains a "#": write it as %23`)
	}
	switch u.Scheme {
	case "memory":
		return parseMemory(u)
	case "file":
		return parseDir(u)
	case "s3":
		return parseS3(u)
	default:
		return Store{}, errURLForm
	}
}

func parseMemory(u *url.URL) (Store, error) {
	if u.Opaque != "" || u.Host != "" || strings.Trim(u.Path, "/") != "" {
		return Store{}, errors.New("the URL of a store in memory is memory:/// and nothing more")
	}
	if err := refuseQuery(u); err != nil {
		return Store{}, err
	}
	return Memory(), nil
}

func parseDir(u *url.URL) (Store, error) {
	if u.Opaque != "" || u.Host != "" || strings.Trim(u.Path, "/") == "" {
		return Store{}, errors.New("the URL of a directory has three slashes and an absolute path: file:///directory")
	}
	if err := refuseQuery(u); err != nil {
		return Store{}, err
	}
	return Dir(u.Path), nil
}

func refuseQuery(u *url.URL) error {
	query, err := parseQuery(u)
	if err != nil {
		return err
	}
	if keys := slices.Sorted(maps.Keys(query)); len(keys) > 0 {
		return fmt.Errorf("the URL of a %s store takes no key %q: remove it", u.Scheme, keys[0])
	}
	return nil
}

func parseS3(u *url.URL) (Store, error) {
	if u.Opaque != "" || u.Host == "" {
		return Store{}, errors.New("the URL of an S3 store begins with the bucket: s3://bucket/prefix")
	}
	o := S3Options{Bucket: u.Host, Prefix: strings.Trim(u.Path, "/")}
	query, err := parseQuery(u)
	if err != nil {
		return Store{}, err
	}
	for _, key := range slices.Sorted(maps.Keys(query)) {
		if err := setOption(&o, key, query[key]); err != nil {
			return Store{}, err
		}
	}
	if err := o.check(); err != nil {
		return Store{}, err
	}
	return S3(o), nil
}

// parseQuery refuses a key without a value and a key given twice.
func parseQuery(u *url.URL) (map[string]string, error) {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, errors.New("the query of the store URL is malformed: write key=value pairs with & between them")
	}
	single := make(map[string]string, len(query))
	for _, key := range slices.Sorted(maps.Keys(query)) {
		values := query[key]
		switch {
		case len(values) > 1:
			return nil, fmt.Errorf("the store URL gives %q more than once", key)
		case values[0] == "":
			return nil, fmt.Errorf("the store URL gives %q no value: remove it or set it", key)
		}
		single[key] = values[0]
	}
	return single, nil
}

// setOption takes one pair of the query over.
func setOption(o *S3Options, key, value string) (err error) {
	switch key {
	case "endpoint":
		o.Endpoint = value
	case "region":
		o.Region = value
	case "profile":
		o.Profile = value
	case "virtual_hosted":
		o.VirtualHosted, err = parseBool(key, value)
	case "request_timeout":
		o.RequestTimeout, err = parseTimeout(key, value)
	default:
		err = unknownKey(key)
	}
	return err
}

func parseBool(key, value string) (bool, error) {
	if value != "true" && value != "false" {
		return false, fmt.Errorf("%s is %q in the store URL: use true or false", key, value)
	}
	return value == "true", nil
}

func parseTimeout(key, value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%s is %q in the store URL: use a positive duration such as 5s", key, value)
	}
	return d, nil
}

func unknownKey(key string) error {
	secret := slices.ContainsFunc([]string{"access", "secret", "token", "password", "credential"}, func(word string) bool {
		return strings.Contains(strings.ToLower(key), word)
	})
	if secret {
		return fmt.Errorf("the store URL contains credentials (%q): %s", key, useEnvironment)
	}
	return fmt.Errorf("the store URL has an unknown key %q: "+
		"use endpoint, region, profile, virtual_hosted or request_timeout", key)
}

// url is the form that parseS3 reads. An endpoint that contains credentials is
// invalid, and shown without them.
func (o S3Options) url() string {
	query := url.Values{}
	add := func(key, value string) {
		if value != "" {
			query.Set(key, value)
		}
	}
	if u, err := url.Parse(o.Endpoint); err == nil {
		u.User, u.RawQuery, u.Fragment = nil, "", ""
		add("endpoint", u.String())
	}
	add("region", o.Region)
	add("profile", o.Profile)
	if o.VirtualHosted {
		add("virtual_hosted", strconv.FormatBool(true))
	}
	if o.RequestTimeout > 0 {
		add("request_timeout", o.RequestTimeout.String())
	}
	u := url.URL{Scheme: "s3", Host: o.Bucket, Path: "/" + o.prefix()}
	if o.prefix() == "" {
		u.Path = ""
	}
	// Colons and slashes are legal in a query, and endpoints are full of them.
	u.RawQuery = strings.NewReplacer("%3A", ":", "%2F", "/").Replace(query.Encode())
	return u.String()
}
