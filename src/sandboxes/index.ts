import type { EngineContext, EngineProbe } from './contract.ts'
import { probeBubblewrap } from './probe-bubblewrap.ts'
import { probeDocker } from './probe-docker.ts'

const probes = [probeDocker, probeBubblewrap]

/** Every engine we know, usable or not. */
export function probeEngines(context: EngineContext): Promise<readonly EngineProbe[]> {
  return Promise.all(probes.map((probe) => probe(context)))
}
