package strategy

// ClockTruster is a [Strategy] that may compare the wall clocks of nodes. What it decides
// is true only as long as those agree.
type ClockTruster interface {
	// TrustsWallClocks says whether the strategy compares them.
	TrustsWallClocks() bool
}
