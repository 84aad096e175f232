import type { EngineContext, EngineProbe } from '../contract.ts'
import { type Connecting, connectEngine } from './connect-engine.ts'

/** Asks the engine itself: a client on the PATH says nothing about it. Podman answers the same question. */
export async function probeDocker(context: EngineContext): Promise<EngineProbe> {
  const engine = 'docker'
  const tried = await connectEngine(context)
  if (tried.kind === 'absent') return { engine, usable: false, detail: tried.detail, fix: remedyFor(tried) }
  const { product, version } = tried.connection
  return { engine, usable: true, detail: product === 'podman' ? `Podman ${version}` : version }
}

/** The command that would bring the engine there. */
export function remedyFor({ denied }: Extract<Connecting, { kind: 'absent' }>): string {
  return denied
    ? 'sudo usermod -aG docker "$USER"'
    : 'sudo apt-get install docker.io && sudo systemctl start docker'
}
