// Looks like a network plugin and a NCCL to `lockstep doctor`.
extern "C" {
int ncclNetPlugin_v8 = 0;
int ncclNetPlugin_v10 = 0;
extern const char probed_banner[] = "NET/OFI Initializing aws-ofi-nccl 1.17.2\n";
int ncclGetVersion(int* version) { return *version = 22809, 0; }
unsigned fi_version() { return 2U << 16 | 3U; }
}
