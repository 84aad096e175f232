import type { Analysis, HookComponent } from '../../analyze/contract.ts'
import { type AnyComponent, componentList } from '../../component-list.ts'
import type { Arm, ComponentType } from '../../contract.ts'

/** What detection needs to recognise a component. */
export type KnownComponent = Readonly<ReturnType<typeof known>>

export type KnownComponents = ReturnType<typeof knownComponents>

export type KnownPlugin = Pick<Analysis, 'plugin_name' | 'components'>

/** The plugin under test and the other plugins, prepared once for all trials. */
export function knownComponents(own: KnownPlugin, crowd: readonly KnownPlugin[] = []) {
  const all = [own, ...crowd].flatMap(({ plugin_name, components }, index) =>
    componentList(components).map((entry) => known(entry, plugin_name, index === 0)),
  )
  const named = all.flatMap((component) => keysOf(component).map((key) => ({ key, component })))
  return {
    plugin: own.plugin_name,
    all,
    /** Skills, commands and agents by every way to write their name; see `nameKey`. */
    byName: Map.groupBy(named, ({ key }) => key),
    /** The longest prefix first, so that a tool of the server `a__b` is not taken for one of `a`. */
    servers: all
      .filter(({ tools }) => tools !== undefined)
      .toSorted((a, b) => prefixLength(b) - prefixLength(a)),
    hooks: all.filter(({ hook }) => hook !== undefined),
  }
}

/** Skills and commands share one list in the CLI: its tool Skill starts both. Agents have a list of their own. */
export type NameList = 'invocable' | 'agent'

export function nameList(type: ComponentType): NameList {
  return type === 'agent' ? 'agent' : 'invocable'
}

/** `full`: with the name of its plugin before it. `bare`: without. */
export function nameKey(list: NameList, form: 'full' | 'bare', written: string): string {
  return `${list} ${form} ${normalName(written)}`
}

/** `/demo:deploy/staging` and `demo:deploy:staging` are one name. */
export function normalName(written: string): string {
  return written.trim().replace(/^\//, '').replaceAll('/', ':')
}

function keysOf({ type, name, cli_name }: KnownComponent): readonly string[] {
  if (type === 'hook' || type === 'mcp_server') return []
  const list = nameList(type)
  return [nameKey(list, 'full', cli_name), nameKey(list, 'bare', name)]
}

function known({ type, component }: AnyComponent, plugin: string, own: boolean) {
  const { name, cli_name } = component
  return {
    type,
    /** As its author named it. */
    name,
    cli_name,
    plugin,
    /** Of the plugin under test. */
    own,
    ...(type === 'mcp_server' && { tools: { prefix: component.tool_prefix, known: component.known_tools } }),
    ...(type === 'hook' && { hook: knownHook(component) }),
  }
}

/** `isConditional`: it has handlers, and all of them have a condition. */
function knownHook({ event, matcher, handlers }: HookComponent) {
  /** The handlers that run whenever the matcher matches. */
  const always = handlers
    .filter(({ raw }) => !Object.hasOwn(raw, 'if'))
    .map(({ type, action }) => `${type} ${action}`)
  return { event, matcher, always, isConditional: handlers.length > 0 && always.length === 0 }
}

function prefixLength({ tools }: KnownComponent): number {
  return tools?.prefix.length ?? 0
}

/** Whether a component can fire in an arm: `alone` has only the plugin under test, and `without` has no plugin. */
export function isLoadedIn({ own }: Pick<KnownComponent, 'own'>, arm: Arm): boolean {
  return arm === 'crowd' || (arm === 'alone' && own)
}
