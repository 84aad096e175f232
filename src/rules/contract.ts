/** What the rules promise and what they are given: the one file of this room that other parts import. */

export type { ResolvedPath, World } from '../shell/world.ts'
export type {
  EditedFile,
  FactName,
  Facts,
  SealBreak,
  TestFileFacts,
  TestInventory,
  VerificationRun,
} from './contract/facts.ts'
export type {
  CallHistory,
  EditHistory,
  EvidenceHistory,
  Fold,
  GateHistory,
  History,
  OpenCall,
  PastCall,
  SessionHistory,
  TaskHistory,
} from './contract/history.ts'
export type {
  DecisionEntry,
  EventEntry,
  LedgerEntry,
  NoteEntry,
  StoredCall,
  StoredEvent,
} from './contract/ledger-entry.ts'
export type { EvidenceSource, Note } from './contract/note.ts'
export type { DeclaredCommand, PlanFacts, ProjectFacts } from './contract/project-facts.ts'
export type { Rule, RuleAnswer, Scene } from './contract/rule.ts'
export type { Settings } from './contract/settings.ts'
