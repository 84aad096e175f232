import { getOverSocket } from '../io/get-over-socket.ts'
import type { EngineContext, EngineProbe } from './contract.ts'

/** Asks the engine itself: a client on the PATH says nothing about it. Podman answers the same question. */
export async function probeDocker({ env }: EngineContext): Promise<EngineProbe> {
  const engine = 'docker'
  const host = env.DOCKER_HOST ?? 'unix:///var/run/docker.sock'
  const socket = /^unix:\/\/(.+)$/.exec(host)?.[1]
  if (socket === undefined)
    return { engine, usable: false, detail: `DOCKER_HOST is ${host}, which is no Unix socket` }
  const answer = await getOverSocket(socket, '/version', 3_000)
  if (answer.kind === 'answer' && answer.status === 200)
    return { engine, usable: true, detail: versionIn(answer.body) }
  const detail =
    answer.kind === 'answer'
      ? `the engine at ${socket} answers with ${answer.status}`
      : answer.code === 'ENOENT'
        ? `no engine listens at ${socket}`
        : answer.code === 'EACCES'
          ? `no permission for ${socket}`
          : answer.message
  const denied = answer.kind === 'unreachable' && answer.code === 'EACCES'
  return {
    engine,
    usable: false,
    detail,
    fix: denied
      ? 'sudo usermod -aG docker "$USER"'
      : 'sudo apt-get install docker.io && sudo systemctl start docker',
  }
}

function versionIn(body: string): string {
  try {
    const { Version } = JSON.parse(body) as { readonly Version?: unknown }
    return typeof Version === 'string' ? Version : 'version unknown'
  } catch {
    return 'version unknown'
  }
}
