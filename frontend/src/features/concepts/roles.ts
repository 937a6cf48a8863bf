// What is said to who may not do something here.
import { LEAST_ROLE } from "@/api/roles";
import { ROLE_TERMS } from "@/words/terms";

const nameRole = (action: "rule" | "jobs") => ROLE_TERMS[LEAST_ROLE[action]].label.toLowerCase();

export const CURATORS_ONLY = `You can read the catalogue and download it. To change it takes the role ${nameRole("rule")}: an admin gives it.`;
export const OPERATORS_MEASURE = `To look for concepts in a job's documents takes the role ${nameRole("jobs")}: an admin gives it.`;
export const OPERATORS_PROBE = `You can read what probes found. To start one takes the role ${nameRole("jobs")}: an admin gives it.`;
