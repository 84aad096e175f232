import type { SandboxEngine } from '../contract.ts'
import { openContainer } from './open-container.ts'
import { probeDocker } from './probe.ts'
import { sweepDocker } from './sweep.ts'

/** A container of Docker, or of Podman, through the socket of its engine. */
export const dockerEngine: SandboxEngine = {
  name: 'docker',
  probe: probeDocker,
  open: openContainer,
  sweep: sweepDocker,
}
