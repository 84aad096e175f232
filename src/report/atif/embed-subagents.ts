import type { AgentLists } from './agent-lists.ts'
import type { AtifTrajectory } from './schema.ts'
import type { StepList } from './step-list.ts'

type Finish = (list: StepList, id: string, subagents: readonly AtifTrajectory[]) => AtifTrajectory

/**
 * The trajectory of the main agent with those of its subagents inside, each in the one whose call started it and
 * referred to from that call's result. A subagent whose call nobody saw is kept with the main agent, without a reference.
 */
export function embedSubagents(
  { main, subagents }: AgentLists,
  rootId: string,
  finish: Finish,
): AtifTrajectory {
  const left = new Map(subagents)
  const trajectoryId = (call: string): string => `${rootId}/${call}`
  const take = (call: string, list: StepList): AtifTrajectory => {
    left.delete(call)
    return build(list, trajectoryId(call), [])
  }
  const build = (list: StepList, id: string, others: readonly AtifTrajectory[]): AtifTrajectory => {
    const own: AtifTrajectory[] = []
    for (const [call, subagent] of [...left]) {
      if (left.has(call) && list.refer(call, trajectoryId(call))) own.push(take(call, subagent))
    }
    return finish(list, id, [...own, ...others])
  }
  const known = new Set(reachable(main, subagents))
  const strays = [...subagents].filter(([call]) => !known.has(call))
  const kept: AtifTrajectory[] = []
  for (const [call, subagent] of strays) if (left.has(call)) kept.push(take(call, subagent))
  return build(main, rootId, kept)
}

/** The subagents to which calls lead from the main agent. */
function reachable(main: StepList, subagents: ReadonlyMap<string, StepList>): readonly string[] {
  const found = new Set<string>()
  const open = [main]
  for (let list = open.pop(); list !== undefined; list = open.pop()) {
    for (const [call, subagent] of subagents) {
      if (found.has(call) || !list.hasCall(call)) continue
      found.add(call)
      open.push(subagent)
    }
  }
  return [...found]
}
