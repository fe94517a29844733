package slatedb

// Version is the engine's version that the binding works with, and no other.
const Version = "0.17.0"

// contractVersion is UniFFI's version of the ABI itself.
const contractVersion = 30

// A shape is the signature of one of the library's functions; slate.h says what
// the letters mean and lists them in the same order.
type shape uint8

const (
	shapeCheckedOnly shape = iota
	futureH
	futureB
	futureR
	futureBB
	futureBR
	futureRR
	futureBBR
	futureBRR
	futureBBRWrite
	futureBatch
	futureN
	shapeNew
	shapeNewR
	shapeNewRH
	shapeBuild
	shapeRead
	shapeSet
	shapeSetH
	shapeSetHN
	shapeSetR
	shapeSetRR
	shapeGlobalRR
)

// A resultKind is what a future gives; in the order of slate.h.
type resultKind uint8

const (
	resultVoid resultKind = iota
	resultValue
	resultBytes
	resultWrite
	resultCommit
)

// An objectKind is a kind of the library's handles. The first four are known to slate.h.
type objectKind uint8

const (
	objectNone objectKind = iota
	objectDB
	objectBatch
	objectReader
	objectStore
	objectStoreBuilder
	objectCache
	objectSettings
	objectDBBuilder
	objectReaderBuilder
	objectAdminBuilder
	objectAdmin
	objectSnapshot
	objectTransaction
	objectIterator
	objectWrite
)

// objectNames are the names in the library's symbols.
var objectNames = [...]string{
	objectDB:            "db",
	objectBatch:         "writebatch",
	objectReader:        "dbreader",
	objectStore:         "objectstore",
	objectStoreBuilder:  "objectstorebuilder",
	objectCache:         "dbcache",
	objectSettings:      "settings",
	objectDBBuilder:     "dbbuilder",
	objectReaderBuilder: "dbreaderbuilder",
	objectAdminBuilder:  "adminbuilder",
	objectAdmin:         "admin",
	objectSnapshot:      "dbsnapshot",
	objectTransaction:   "dbtransaction",
	objectIterator:      "dbiterator",
	objectWrite:         "writehandle",
}

// A method is one of the library's functions. The first nine are known to slate.h.
type method uint32

const (
	batchNew method = iota
	batchPut
	batchPutTTL
	batchMerge
	batchMergeTTL
	batchDelete
	writeSeq
	dbStatus
	readerStatus
	dbGet
	dbGetWith
	dbGetRow
	dbScan
	dbScanPrefix
	snapshotGet
	snapshotGetWith
	snapshotGetRow
	snapshotScan
	snapshotScanPrefix
	txGet
	txGetWith
	txGetRow
	txScan
	txScanPrefix
	readerGet
	readerGetWith
	readerGetRow
	readerScan
	readerScanPrefix
	dbPut
	dbPutWith
	dbMerge
	dbMergeWith
	dbDelete
	dbWrite
	dbFlush
	dbShutdown
	dbSnapshot
	dbBegin
	txPut
	txMerge
	txDelete
	txCommit
	txRollback
	iteratorNext
	iteratorSeek
	readerShutdown
	dbBuilderNew
	dbBuilderSettings
	dbBuilderCache
	dbBuilderNoCache
	dbBuilderMerge
	dbBuilderMetrics
	dbBuilderBuild
	readerBuilderNew
	readerBuilderOptions
	readerBuilderMode
	readerBuilderCache
	readerBuilderNoCache
	readerBuilderMerge
	readerBuilderMetrics
	readerBuilderBuild
	adminBuilderNew
	adminBuilderBuild
	adminManifest
	adminManifests
	adminCheckpoints
	adminCreateCheckpoint
	adminRefreshCheckpoint
	adminDeleteCheckpoint
	cacheNew
	storeBuilderNew
	storeBuilderConfig
	storeBuilderBuild
	settingsDefault
	settingsFromJSON
	settingsToJSON
	initLogging
	callbackMerge
	callbackLog
	callbackCounter
	callbackGauge
	callbackUpDown
	callbackHistogram
	callbackRegisterCounter
	callbackRegisterGauge
	callbackRegisterUpDown
	callbackRegisterHistogram
)

// methods is what the binding uses of version 0.17.0: each function with the
// checksum of its signature, as the version's own Python binding has them.
var methods = [...]struct {
	name     string
	checksum int32
	shape    shape
	result   resultKind
	self     objectKind // the handle that it is a method of
	argument objectKind // the handle among its arguments
	product  objectKind // the kind of handle that its result is
}{
	batchNew:                  {"constructor_writebatch_new", 2056, shapeNew, resultVoid, objectNone, objectNone, objectBatch},
	batchPut:                  {"method_writebatch_put", 48246, shapeCheckedOnly, resultVoid, objectNone, objectNone, objectNone},
	batchPutTTL:               {"method_writebatch_put_with_options", 31177, shapeCheckedOnly, resultVoid, objectNone, objectNone, objectNone},
	batchMerge:                {"method_writebatch_merge", 62067, shapeCheckedOnly, resultVoid, objectNone, objectNone, objectNone},
	batchMergeTTL:             {"method_writebatch_merge_with_options", 24696, shapeCheckedOnly, resultVoid, objectNone, objectNone, objectNone},
	batchDelete:               {"method_writebatch_delete", 58549, shapeCheckedOnly, resultVoid, objectNone, objectNone, objectNone},
	writeSeq:                  {"method_writehandle_seqnum", 19654, shapeCheckedOnly, resultVoid, objectNone, objectNone, objectNone},
	dbStatus:                  {"method_db_status", 51988, shapeRead, resultVoid, objectDB, objectNone, objectNone},
	readerStatus:              {"method_dbreader_status", 4488, shapeRead, resultVoid, objectReader, objectNone, objectNone},
	dbGet:                     {"method_db_get", 39474, futureB, resultBytes, objectDB, objectNone, objectNone},
	dbGetWith:                 {"method_db_get_with_options", 20708, futureBR, resultBytes, objectDB, objectNone, objectNone},
	dbGetRow:                  {"method_db_get_key_value_with_options", 6898, futureBR, resultBytes, objectDB, objectNone, objectNone},
	dbScan:                    {"method_db_scan_with_options", 63326, futureRR, resultValue, objectDB, objectNone, objectIterator},
	dbScanPrefix:              {"method_db_scan_prefix_with_options", 8173, futureBRR, resultValue, objectDB, objectNone, objectIterator},
	snapshotGet:               {"method_dbsnapshot_get", 52436, futureB, resultBytes, objectSnapshot, objectNone, objectNone},
	snapshotGetWith:           {"method_dbsnapshot_get_with_options", 58422, futureBR, resultBytes, objectSnapshot, objectNone, objectNone},
	snapshotGetRow:            {"method_dbsnapshot_get_key_value_with_options", 21706, futureBR, resultBytes, objectSnapshot, objectNone, objectNone},
	snapshotScan:              {"method_dbsnapshot_scan_with_options", 63293, futureRR, resultValue, objectSnapshot, objectNone, objectIterator},
	snapshotScanPrefix:        {"method_dbsnapshot_scan_prefix_with_options", 38325, futureBRR, resultValue, objectSnapshot, objectNone, objectIterator},
	txGet:                     {"method_dbtransaction_get", 4279, futureB, resultBytes, objectTransaction, objectNone, objectNone},
	txGetWith:                 {"method_dbtransaction_get_with_options", 30800, futureBR, resultBytes, objectTransaction, objectNone, objectNone},
	txGetRow:                  {"method_dbtransaction_get_key_value_with_options", 61936, futureBR, resultBytes, objectTransaction, objectNone, objectNone},
	txScan:                    {"method_dbtransaction_scan_with_options", 5569, futureRR, resultValue, objectTransaction, objectNone, objectIterator},
	txScanPrefix:              {"method_dbtransaction_scan_prefix_with_options", 2853, futureBRR, resultValue, objectTransaction, objectNone, objectIterator},
	readerGet:                 {"method_dbreader_get", 53337, futureB, resultBytes, objectReader, objectNone, objectNone},
	readerGetWith:             {"method_dbreader_get_with_options", 22247, futureBR, resultBytes, objectReader, objectNone, objectNone},
	readerGetRow:              {"method_dbreader_get_key_value_with_options", 19895, futureBR, resultBytes, objectReader, objectNone, objectNone},
	readerScan:                {"method_dbreader_scan_with_options", 27137, futureRR, resultValue, objectReader, objectNone, objectIterator},
	readerScanPrefix:          {"method_dbreader_scan_prefix_with_options", 35795, futureBRR, resultValue, objectReader, objectNone, objectIterator},
	dbPut:                     {"method_db_put", 17079, futureBB, resultWrite, objectDB, objectNone, objectNone},
	dbPutWith:                 {"method_db_put_with_options", 12036, futureBBRWrite, resultWrite, objectDB, objectNone, objectNone},
	dbMerge:                   {"method_db_merge", 37097, futureBB, resultWrite, objectDB, objectNone, objectNone},
	dbMergeWith:               {"method_db_merge_with_options", 37495, futureBBRWrite, resultWrite, objectDB, objectNone, objectNone},
	dbDelete:                  {"method_db_delete", 29763, futureB, resultWrite, objectDB, objectNone, objectNone},
	dbWrite:                   {"method_db_write", 63711, futureBatch, resultWrite, objectDB, objectNone, objectNone},
	dbFlush:                   {"method_db_flush_with_options", 27835, futureR, resultVoid, objectDB, objectNone, objectNone},
	dbShutdown:                {"method_db_shutdown_with_options", 54951, futureR, resultVoid, objectDB, objectNone, objectNone},
	dbSnapshot:                {"method_db_snapshot", 53137, futureH, resultValue, objectDB, objectNone, objectSnapshot},
	dbBegin:                   {"method_db_begin", 38869, futureR, resultValue, objectDB, objectNone, objectTransaction},
	txPut:                     {"method_dbtransaction_put_with_options", 37260, futureBBR, resultVoid, objectTransaction, objectNone, objectNone},
	txMerge:                   {"method_dbtransaction_merge_with_options", 17753, futureBBR, resultVoid, objectTransaction, objectNone, objectNone},
	txDelete:                  {"method_dbtransaction_delete", 7933, futureB, resultVoid, objectTransaction, objectNone, objectNone},
	txCommit:                  {"method_dbtransaction_commit", 56426, futureH, resultCommit, objectTransaction, objectNone, objectNone},
	txRollback:                {"method_dbtransaction_rollback", 25213, futureH, resultVoid, objectTransaction, objectNone, objectNone},
	iteratorNext:              {"method_dbiterator_next_batch", 61234, futureN, resultBytes, objectIterator, objectNone, objectNone},
	iteratorSeek:              {"method_dbiterator_seek", 61052, futureB, resultVoid, objectIterator, objectNone, objectNone},
	readerShutdown:            {"method_dbreader_shutdown", 34395, futureH, resultVoid, objectReader, objectNone, objectNone},
	dbBuilderNew:              {"constructor_dbbuilder_new", 60260, shapeNewRH, resultVoid, objectNone, objectStore, objectDBBuilder},
	dbBuilderSettings:         {"method_dbbuilder_with_settings", 64263, shapeSetH, resultVoid, objectDBBuilder, objectSettings, objectNone},
	dbBuilderCache:            {"method_dbbuilder_with_db_cache", 47822, shapeSetHN, resultVoid, objectDBBuilder, objectCache, objectNone},
	dbBuilderNoCache:          {"method_dbbuilder_with_db_cache_disabled", 17477, shapeSet, resultVoid, objectDBBuilder, objectNone, objectNone},
	dbBuilderMerge:            {"method_dbbuilder_with_merge_operator", 5839, shapeSetH, resultVoid, objectDBBuilder, objectNone, objectNone},
	dbBuilderMetrics:          {"method_dbbuilder_with_metrics_recorder", 18128, shapeSetH, resultVoid, objectDBBuilder, objectNone, objectNone},
	dbBuilderBuild:            {"method_dbbuilder_build", 18005, futureH, resultValue, objectDBBuilder, objectNone, objectDB},
	readerBuilderNew:          {"constructor_dbreaderbuilder_new", 20397, shapeNewRH, resultVoid, objectNone, objectStore, objectReaderBuilder},
	readerBuilderOptions:      {"method_dbreaderbuilder_with_options", 46155, shapeSetR, resultVoid, objectReaderBuilder, objectNone, objectNone},
	readerBuilderMode:         {"method_dbreaderbuilder_with_reader_mode", 45455, shapeSetR, resultVoid, objectReaderBuilder, objectNone, objectNone},
	readerBuilderCache:        {"method_dbreaderbuilder_with_db_cache", 34968, shapeSetHN, resultVoid, objectReaderBuilder, objectCache, objectNone},
	readerBuilderNoCache:      {"method_dbreaderbuilder_with_db_cache_disabled", 43175, shapeSet, resultVoid, objectReaderBuilder, objectNone, objectNone},
	readerBuilderMerge:        {"method_dbreaderbuilder_with_merge_operator", 63455, shapeSetH, resultVoid, objectReaderBuilder, objectNone, objectNone},
	readerBuilderMetrics:      {"method_dbreaderbuilder_with_metrics_recorder", 20032, shapeSetH, resultVoid, objectReaderBuilder, objectNone, objectNone},
	readerBuilderBuild:        {"method_dbreaderbuilder_build", 11741, futureH, resultValue, objectReaderBuilder, objectNone, objectReader},
	adminBuilderNew:           {"constructor_adminbuilder_new", 41354, shapeNewRH, resultVoid, objectNone, objectStore, objectAdminBuilder},
	adminBuilderBuild:         {"method_adminbuilder_build", 46255, shapeBuild, resultVoid, objectAdminBuilder, objectNone, objectAdmin},
	adminManifest:             {"method_admin_read_manifest", 1383, futureR, resultBytes, objectAdmin, objectNone, objectNone},
	adminManifests:            {"method_admin_list_manifests", 13737, futureRR, resultBytes, objectAdmin, objectNone, objectNone},
	adminCheckpoints:          {"method_admin_list_checkpoints", 43487, futureR, resultBytes, objectAdmin, objectNone, objectNone},
	adminCreateCheckpoint:     {"method_admin_create_detached_checkpoint", 37184, futureR, resultBytes, objectAdmin, objectNone, objectNone},
	adminRefreshCheckpoint:    {"method_admin_refresh_checkpoint", 42876, futureRR, resultVoid, objectAdmin, objectNone, objectNone},
	adminDeleteCheckpoint:     {"method_admin_delete_checkpoint", 28193, futureR, resultVoid, objectAdmin, objectNone, objectNone},
	cacheNew:                  {"constructor_dbcache_new_foyer_cache", 16480, shapeNewR, resultVoid, objectNone, objectNone, objectCache},
	storeBuilderNew:           {"constructor_objectstorebuilder_from_url", 61831, shapeNewR, resultVoid, objectNone, objectNone, objectStoreBuilder},
	storeBuilderConfig:        {"method_objectstorebuilder_with_config", 61356, shapeSetRR, resultVoid, objectStoreBuilder, objectNone, objectNone},
	storeBuilderBuild:         {"method_objectstorebuilder_build", 43358, shapeBuild, resultVoid, objectStoreBuilder, objectNone, objectStore},
	settingsDefault:           {"constructor_settings_default", 64704, shapeNew, resultVoid, objectNone, objectNone, objectSettings},
	settingsFromJSON:          {"constructor_settings_from_json_string", 38360, shapeNewR, resultVoid, objectNone, objectNone, objectSettings},
	settingsToJSON:            {"method_settings_to_json_string", 8458, shapeRead, resultVoid, objectSettings, objectNone, objectNone},
	initLogging:               {"func_init_logging", 43029, shapeGlobalRR, resultVoid, objectNone, objectNone, objectNone},
	callbackMerge:             {"method_mergeoperator_merge", 48409, shapeCheckedOnly, resultVoid, objectNone, objectNone, objectNone},
	callbackLog:               {"method_logcallback_log", 36316, shapeCheckedOnly, resultVoid, objectNone, objectNone, objectNone},
	callbackCounter:           {"method_counter_increment", 45426, shapeCheckedOnly, resultVoid, objectNone, objectNone, objectNone},
	callbackGauge:             {"method_gauge_set", 19642, shapeCheckedOnly, resultVoid, objectNone, objectNone, objectNone},
	callbackUpDown:            {"method_updowncounter_increment", 34440, shapeCheckedOnly, resultVoid, objectNone, objectNone, objectNone},
	callbackHistogram:         {"method_histogram_record", 17863, shapeCheckedOnly, resultVoid, objectNone, objectNone, objectNone},
	callbackRegisterCounter:   {"method_metricsrecorder_register_counter", 39547, shapeCheckedOnly, resultVoid, objectNone, objectNone, objectNone},
	callbackRegisterGauge:     {"method_metricsrecorder_register_gauge", 50645, shapeCheckedOnly, resultVoid, objectNone, objectNone, objectNone},
	callbackRegisterUpDown:    {"method_metricsrecorder_register_up_down_counter", 5890, shapeCheckedOnly, resultVoid, objectNone, objectNone, objectNone},
	callbackRegisterHistogram: {"method_metricsrecorder_register_histogram", 20670, shapeCheckedOnly, resultVoid, objectNone, objectNone, objectNone},
}
