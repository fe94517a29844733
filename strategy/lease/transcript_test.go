package lease

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/slap-go/slap/internal/transcript"
)

// TestTranscripts plays what happens to a core, or to the queue of a runner, line by line,
// and compares what it does about it, the indented lines, with the file. Time begins at 10s.
//
//	node a shards=2 ttl=3s        a core, and an empty store; also: interval, skew, jitter=late
//	queue 2                       a queue with so many places
//
//	lease 0-1 b generation=3      another writes leases: of b, free, unreadable or missing; also:
//	                              incarnation=b2, ttl=9s unless it is the node's, ends=1s unless after the TTL
//	heartbeat b live 0:running:3  the same for a heartbeat: in a state, unreadable or missing
//
//	ok read lease 0-1             the request that begins so is carried out; a greeting finds nobody
//	fails list                    it is refused
//	unfit set up                  it is refused by a store that cannot hold leases
//	lost renew 0                  it is carried out, but the reply is lost
//	late renew 0                  there is no reply; it is carried out when it "lands", if ever
//	answers a9                    an incarnation answers the greeting
//	serve                         all requests are carried out, until nothing more is asked
//	begin                         the same, and shards open and close at once; nothing is written
//
//	after 2s                      time passes; what is done meanwhile stands below its time
//	run 9s                        time passes with serve; of what is done, the routine is left out
//	wall -8h                      the wall clock jumps
//	wakes                         when the core, or the queue, wants to be woken, from now
//
//	opened 0, failed 0 fenced, closed 0-1, down 0 crashed
//	                              what the host does with the shards
//	busy 0, idle 0                whether something of a shard goes on that was given up
//	expired 0, look, refresh 0, leave
//	                              the runner, another node, and callers
//	open 0 5s, renew 0 5s, drop 0, close 0
//	                              a loop, to the queue: with a lease of so long, which it ends
func TestTranscripts(t *testing.T) {
	names := []string{
		"LL-2, P3.1: round",
		"OL-15, LL-2, P3.1: one_node",
		"LL-3, P3.2: pace",
		"LL-3: the_pace_after_a_failure",
		"LL-5, P3.4: releases",
		"LL-6, P2.2, OL-8: renewals",
		"LL-7, LL-6: one_renewal_fails",
		"LL-8: lost_beside_a_failure",
		"LL-8, LL-23: what_is_lost_is_no_self_fence",
		"LL-9: the_runner_fences",
		"LL-9: all_whose_leases_are_over_close_at_once",
		"LL-9: what_the_loop_has_ended",
		"LL-10, P3.4: queued_past_its_deadline",
		"LL-10: an_open_that_waits_past_its_deadline",
		"LL-10: what_the_loop_has_ended_is_not_opened",
		"LL-12: an_open_after_its_lease",
		"LL-12: what_opens_after_its_lease_is_closed",
		"LL-14, P4.1: fences",
		"LL-16, P6.3: leaving",
		"LL-19: a_refresh_before_the_store_is_there",
		"LL-20, LL-22: owners",
		"LL-21: setup",
		"LL-21: unsupported",
		"LL-23: events",
		"LL-25: already_there",
		"OL-4, OL-5: claims",
		"OL-6, P2.3: claim_lost",
		"OL-9, P4.4: claimed_again_after_a_self_fence",
		"OL-12, P2.6: who_owns_what",
		"OL-13: peers",
		"OL-13, P2.3: a_read_of_a_peer_that_fails",
		"P1.4: generations",
		"P1.4: generation_of_a_missing_lease",
		"P2.2, OL-8: a_lost_reply_of_a_renewal",
		"P2.2: an_older_write_of_ours",
		"P2.2, LL-6: another_owner",
		"P2.3: a_whole_ttl_of_its_owner",
		"P2.3: a_change_starts_over",
		"P2.3, OL-7: unreadable",
		"P2.3: deleted",
		"P2.3, OL-6: its_own_lease_that_it_does_not_hold",
		"P2.4: walls_do_not_count",
		"P2.5, OL-14: skew",
		"P2.6: routing",
		"P2.6, LL-17: owners_are_kept_while_reads_fail",
		"P3.2: a_hint",
		"P3.3, P3.4, LL-5: a_release",
		"P3.4, P2.3: handover",
		"P3.4: a_hint_beside_a_write_that_hangs",
		"P3.5: a_close_while_it_opens",
		"P3.5: some_at_a_time_in_their_order",
		"P3.5: a_close_never_overtakes_its_open",
		"P3.5: a_shard_that_ends_by_itself",
		"P4.1: fenced_and_still_ours",
		"P4.1, LL-14: fenced_and_lost",
		"P4.1: fenced_and_unreadable",
		"P4.2, LL-13: crashes",
		"P4.2: given_up_and_taken",
		"P4.2: failed_elsewhere",
		"P4.3: abandoned",
		"P4.3: an_open_that_hangs",
		"P6.1: nobody_is_there",
		"P6.1: another_answers",
		"P6.1: its_own_answer",
		"P6.1: silent_and_dead",
		"P6.1: silent_and_alive",
		"P6.1: a_conflict_starts_the_rule_again",
		"P6.1: left",
		"P6.2: superseded",
		"P6.2: no_claim_while_the_name_is_in_doubt",
		"P6.2: a_missing_heartbeat_is_written_again",
		"P6.3, LL-16: leaving_step_by_step",
		"P6.3: leaving_while_a_heartbeat_fails",
		"P6.3: leaving_while_a_claim_is_in_doubt",
		"P6.3: a_heartbeat_that_is_gone",
	}
	if files, err := filepath.Glob("testdata/*.txt"); len(files) != len(names) {
		t.Errorf("%d transcripts, of which %d are played: %v", len(files), len(names), err)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			_, file, _ := strings.Cut(name, ": ")
			transcript.File(t, filepath.Join("testdata", file+".txt"), newPlayer)
		})
	}
}
