import type { EngineContext, EngineProbe } from './contract.ts'
import { connectEngine } from './docker/connect-engine.ts'

/** Asks the engine itself: a client on the PATH says nothing about it. Podman answers the same question. */
export async function probeDocker(context: EngineContext): Promise<EngineProbe> {
  const engine = 'docker'
  const tried = await connectEngine(context)
  if (tried.kind === 'connected') {
    const { product, version } = tried.connection
    return { engine, usable: true, detail: product === 'podman' ? `Podman ${version}` : version }
  }
  return {
    engine,
    usable: false,
    detail: tried.detail,
    fix: tried.denied
      ? 'sudo usermod -aG docker "$USER"'
      : 'sudo apt-get install docker.io && sudo systemctl start docker',
  }
}
