// What is said to who may not make exports.
import { LEAST_ROLE } from "@/api/roles";
import { ROLE_TERMS } from "@/words/terms";

export const OPERATORS_ONLY = `You can read, compare and download exports. To make, check or publish one takes the role ${ROLE_TERMS[LEAST_ROLE.exports].label.toLowerCase()}: an admin gives it.`;
