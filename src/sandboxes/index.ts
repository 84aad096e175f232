import { bubblewrapEngine } from './bubblewrap/engine.ts'
import type { EngineContext, EngineProbe, SandboxEngine, SandboxFailure, SandboxName } from './contract.ts'
import { hostEngine } from './host/engine.ts'

/** Its HTTP client takes longer to load than bubblewrap takes to run. */
const dockerEngine = loadedWhenUsed('docker', async () => (await import('./docker/engine.ts')).dockerEngine)

/** Every engine by its name. */
export const sandboxEngines: Readonly<Record<SandboxName, SandboxEngine>> = {
  docker: dockerEngine,
  bubblewrap: bubblewrapEngine,
  host: hostEngine,
}

/** The candidates of `auto`, the best first. The host is never chosen automatically. */
const automatic: readonly SandboxEngine[] = [dockerEngine, bubblewrapEngine]

/** Every engine that is a sandbox, usable or not. */
export function probeEngines(context: EngineContext): Promise<readonly EngineProbe[]> {
  return Promise.all(automatic.map((engine) => engine.probe(context)))
}

function loadedWhenUsed(name: SandboxName, load: () => Promise<SandboxEngine>): SandboxEngine {
  return {
    name,
    probe: async (context) => (await load()).probe(context),
    open: async (request) => (await load()).open(request),
    sweep: async (context) => (await load()).sweep(context),
  }
}

/** The requested engine, usable or not: it reports that itself. `auto`: the first that is usable. */
export async function chooseEngine(
  asked: 'auto' | SandboxName,
  context: EngineContext,
): Promise<SandboxEngine | { readonly failure: SandboxFailure }> {
  if (asked !== 'auto') return sandboxEngines[asked]
  const tried: EngineProbe[] = []
  for (const engine of automatic) {
    const probe = await engine.probe(context)
    if (probe.usable) return engine
    tried.push(probe)
  }
  const reasons = tried.map(
    ({ engine, detail, fix }) => `${engine}: ${detail}${fix === undefined ? '' : ` (try: ${fix})`}`,
  )
  return {
    failure: {
      type: 'docker_unavailable',
      message: `No sandbox can be used here. ${reasons.join('; ')}. To run without a sandbox: --sandbox host, which restricts nothing.`,
    },
  }
}
