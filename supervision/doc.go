// Package supervision has supervisors in the way of Erlang's OTP for Proto.Actor.
package supervision
