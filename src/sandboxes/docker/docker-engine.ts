import type { SandboxEngine } from '../contract.ts'
import { probeDocker } from '../probe-docker.ts'
import { openContainer } from './open-container.ts'
import { sweepDocker } from './sweep.ts'

/** A container of Docker, or of Podman, through the socket of its engine. */
export const dockerEngine: SandboxEngine = {
  name: 'docker',
  probe: probeDocker,
  open: openContainer,
  sweep: sweepDocker,
}
