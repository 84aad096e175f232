import type { SandboxEngine } from '../contract.ts'
import { sweepStates } from '../state.ts'
import { openBubblewrap } from './open.ts'
import { probeBubblewrap } from './probe.ts'

/** Namespaces and cgroups of the kernel, without a daemon and without images. The default where there is no Docker. */
export const bubblewrapEngine: SandboxEngine = {
  name: 'bubblewrap',
  probe: probeBubblewrap,
  open: openBubblewrap,
  sweep: ({ env }) => sweepStates('bubblewrap', env),
}
